(() => {
  "use strict";
{% include "timeline.js" %}

  document.querySelectorAll(".timeline").forEach(drawTimeline);
})();
