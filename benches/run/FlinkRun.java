import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableDescriptor;
import org.apache.flink.table.api.TableEnvironment;

/**
 * Times a query on Flink's local cluster: {@code FlinkRun RUNS OUT DDL QUERY}, where the last two are files. Every run is a job
 * of its own in the same JVM, so that later ones find warm code. Prints the seconds of each job, from its start to its end, and the
 * processor seconds that the JVM took meanwhile, cluster and compilation of the query included.
 */
public class FlinkRun {
    public static void main(String[] args) throws Exception {
        int runs = Integer.parseInt(args[0]);
        String ddl = Files.readString(Path.of(args[2])), query = Files.readString(Path.of(args[3]));
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        for (int run = 0; run < runs; run++) {
            Configuration options = new Configuration();
            options.setString("parallelism.default", "1");
            options.setString("pipeline.auto-watermark-interval", "0 ms");
            options.setString("table.local-time-zone", "UTC");
            options.setString("rest.bind-address", "127.0.0.1");
            TableEnvironment env =
                    TableEnvironment.create(EnvironmentSettings.newInstance().inStreamingMode().withConfiguration(options).build());
            long cores = system.getProcessCpuTime();
            env.executeSql(ddl);
            TableDescriptor sink = TableDescriptor.forConnector("filesystem").option("path", args[1] + "/" + run).format("csv").build();
            long millis = env.sqlQuery(query).insertInto(sink).execute()
                    .getJobClient().orElseThrow().getJobExecutionResult().get().getNetRuntime();
            System.out.println(millis / 1e3 + " " + (system.getProcessCpuTime() - cores) / 1e9);
        }
    }
}
