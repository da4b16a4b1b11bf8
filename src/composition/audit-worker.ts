/** Entry of a thread that walks through the journal for one question. Started by AuditThreads, ended by whoever asked. */
import { enterThread, type JobTask, sendTexts } from '../adapters/node/index.js';
import type { ShardName } from '../kernel/index.js';
import type { AuditTask, Log } from '../ports/index.js';
import { foldOfPartition, walk } from '../replay/index.js';
import { openThread, type ThreadTask } from './thread-container.js';

export interface AuditedInstallation extends ThreadTask {
  readonly kvShards: number;
  readonly queueShards: number;
  readonly shards: readonly ShardName[];
  readonly logs: readonly ShardName[];
}

/** Behind everything that somebody waits for. */
const NICENESS = 12;

const { port, data, log } = enterThread<JobTask<AuditedInstallation, AuditTask>>('an audit', NICENESS);
await sendTexts(port, texts(data, log));
port.close();

/** Its connections end with the thread. */
async function* texts({ job, installation }: JobTask<AuditedInstallation, AuditTask>, log: Log): AsyncIterable<string> {
  const parts = await openThread(installation, 'audit', log);
  yield* walk({ ...installation, ...parts, foldFactory: foldOfPartition }, job);
}
