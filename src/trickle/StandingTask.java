package org.apache.spark.trickle;

import java.io.DataOutputStream;
import java.io.FileOutputStream;
import java.lang.reflect.Field;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

import org.apache.spark.Partition;
import org.apache.spark.TaskContext$;
import org.apache.spark.TaskContextImpl;
import org.apache.spark.api.python.PythonRDD;
import org.apache.spark.memory.MemoryManager;
import org.apache.spark.memory.TaskMemoryManager;
import org.apache.spark.rdd.ParallelCollectionPartition;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.execution.arrow.ArrowConverters$;
import org.apache.spark.sql.types.StructType;

/**
 * What the one task of a statement does, gone through by the thread that asks: a call for each relation, and one more.
 *
 * Compiled by the compiler that Spark brings along for its own generated classes (`standing.py`).
 */
public final class StandingTask {
    private static final AtomicLong NUMBERS = new AtomicLong();
    private static final long BATCH_ROWS = 10000L;
    private static final long BATCH_BYTES = 67108864L;

    /** How a task comes by its memory, and a partition by its rows: fields that are no API. */
    private static final Field MANAGERS = field(TaskContextImpl.class, "taskMemoryManager");
    private static final Field VALUES = field(ParallelCollectionPartition.class, "values");

    private MemoryManager memory;
    /** Spark goes through an RDD several times for what it coalesces: so may we, one after another. */
    private RDD rdd;
    /** The partitions of Arrow batches that stand for the relations. */
    private Object[] relations;
    private Object[] rows;
    private StructType seen;
    private Map settings;
    private String zone;
    private boolean large;

    /** How much memory a task may take at once. */
    public StandingTask using(MemoryManager memory) {
        this.memory = memory;
        return this;
    }

    /** The task of a statement, with the same memory. */
    public StandingTask of(RDD rdd, List relations, StructType seen, Map settings, String zone, boolean large) {
        StandingTask made = new StandingTask().using(memory);
        made.rdd = rdd;
        made.relations = relations.toArray();
        made.rows = new Object[made.relations.length];
        made.seen = seen;
        made.settings = settings;
        made.zone = zone;
        made.large = large;
        return made;
    }

    /** Waits for a run that nobody waits for any more: an interrupt ends the waiting, not the run. */
    public synchronized void put(int relation, Object batches) {
        rows[relation] = batches;
    }

    /** The rows of the statement over what was put, into a file: batches, each behind the number of its bytes. */
    public synchronized void run(String path) throws Exception {
        TaskMemoryManager manager = new TaskMemoryManager(memory, NUMBERS.getAndIncrement());
        TaskContextImpl context = TaskContext$.MODULE$.empty();
        MANAGERS.set(context, manager);
        context.getLocalProperties().putAll(settings);
        TaskContext$.MODULE$.setTaskContext(context);
        try {
            fill(false);
            write(path, context);
        } finally {
            try {
                context.markTaskCompleted(scala.Option.empty());
            } finally {
                TaskContext$.MODULE$.unset();
                manager.cleanUpAllAllocatedMemory();
                fill(true);
            }
        }
    }

    private void write(String path, TaskContextImpl context) throws Exception {
        DataOutputStream sink = new DataOutputStream(new FileOutputStream(path));
        try {
            Partition[] parts = rdd.partitions();
            for (int i = 0; i < parts.length; i++) {
                scala.collection.Iterator found = rdd.iterator(parts[i], context);
                PythonRDD.writeIteratorToStream(
                    ArrowConverters$.MODULE$.toBatchWithSchemaIterator(
                        found, seen, BATCH_ROWS, BATCH_BYTES, zone, false, large),
                    sink);
            }
        } finally {
            sink.close();
        }
    }

    private void fill(boolean empty) throws Exception {
        for (int i = 0; i < relations.length; i++) {
            VALUES.set(relations[i], empty ? scala.collection.immutable.Nil$.MODULE$ : rows[i]);
            rows[i] = empty ? null : rows[i];
        }
    }

    private static Field field(Class kind, String name) {
        try {
            Field found = kind.getDeclaredField(name);
            found.setAccessible(true);
            return found;
        } catch (NoSuchFieldException e) {
            throw new IllegalStateException(e);
        }
    }
}
