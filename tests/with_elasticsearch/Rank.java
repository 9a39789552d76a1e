import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.CharArraySet;
import org.apache.lucene.analysis.StopFilter;
import org.apache.lucene.analysis.core.WhitespaceTokenizer;
import org.apache.lucene.analysis.snowball.SnowballFilter;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.util.QueryBuilder;

/** Ranks texts by Lucene's BM25: arguments are files of texts (key, tab, terms), queries and stop words, line by line. */
public final class Rank {
    public static void main(String[] files) throws Exception {
        CharArraySet stop = new CharArraySet(Files.readAllLines(Path.of(files[2])), false);
        Analyzer analyzer = new Analyzer() {
            @Override
            protected TokenStreamComponents createComponents(String field) {
                WhitespaceTokenizer words = new WhitespaceTokenizer();
                return new TokenStreamComponents(words, new SnowballFilter(new StopFilter(words, stop), "English"));
            }
        };
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        try (ByteBuffersDirectory index = new ByteBuffersDirectory()) {
            try (IndexWriter writer = new IndexWriter(index, new IndexWriterConfig(analyzer))) {
                for (String line : Files.readAllLines(Path.of(files[0]))) {
                    String[] parts = line.split("\t", 2);
                    Document document = new Document();
                    document.add(new StringField("key", parts[0], Field.Store.YES));
                    document.add(new TextField("terms", parts[1], Field.Store.NO));
                    writer.addDocument(document);
                }
            }
            try (DirectoryReader reader = DirectoryReader.open(index)) {
                IndexSearcher searcher = new IndexSearcher(reader);
                List<String> queries = Files.readAllLines(Path.of(files[1]));
                for (int number = 0; number < queries.size(); number++) {
                    var query = new QueryBuilder(analyzer).createBooleanQuery("terms", queries.get(number));
                    if (query == null) {
                        continue;
                    }
                    for (var hit : searcher.search(query, 10).scoreDocs) {
                        out.println(number + "\t" + searcher.doc(hit.doc).get("key") + "\t" + hit.score);
                    }
                }
            }
        }
    }
}
