/** Entry of a thread that walks the journal for one question. AuditThreads starts it and the caller ends it. */
import { enterThread, type JobTask, sendTexts } from '../adapters/node/index.js';
import type { ShardName } from '../kernel/index.js';
import type { AuditTask, Log } from '../ports/index.js';
import { foldOfPartition, walk } from '../replay/index.js';
import { openThread } from './thread-container.js';
import type { ThreadTask } from './thread-tasks.js';

export interface AuditedInstallation extends ThreadTask {
  readonly kvShards: number;
  readonly queueShards: number;
  readonly shards: readonly ShardName[];
  readonly logs: readonly ShardName[];
}

/** Lower priority than all work that a client waits for. */
const NICENESS = 12;

const { port, data, log } = enterThread<JobTask<AuditedInstallation, AuditTask>>('an audit', NICENESS);
await sendTexts(port, texts(data, log));
port.close();

/** Its connections close with the thread. */
async function* texts({ job, installation }: JobTask<AuditedInstallation, AuditTask>, log: Log): AsyncIterable<string> {
  const parts = await openThread(installation, 'audit', log);
  yield* walk({ ...installation, ...parts, foldFactory: foldOfPartition }, job);
}
