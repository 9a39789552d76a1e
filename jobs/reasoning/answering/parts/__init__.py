"""The answer of a question that needed several answers, made of these by rule.

What is compared by value is told with both values, events in order with both dates, parts of a question one after
another (GraTAG and Xinyu AI Search: the leaves' pairs of question and answer give the final answer).
"""
