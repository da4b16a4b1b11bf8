/** The words of `millrace cluster`. */
import type { Command } from 'commander';
import { dataVerb, group, type RunVerb, wholeOption } from '../parser.js';

const WAIT = () => wholeOption('--wait <seconds>', 'how long it waits until it is so (120)');
const PROCESS = '\nPROCESS is as status shows it, or how it begins where no other begins so';

export function clusterLine(run: RunVerb): Command {
  const cluster = group(
    'cluster',
    'prepares a NATS of yours; shows processes and shards, and says where they are wanted',
  );
  dataVerb(cluster, 'init', 'creates the streams on the NATS of MILLRACE_NATS_URL', run);
  dataVerb(cluster, 'verify', 'compares the streams with what was created', run);
  dataVerb(cluster, 'users <dir>', 'makes a user of the nats-servers for each role, and their rights', run);
  dataVerb(cluster, 'adopt-key', 'takes the seal key of this machine, when the former one is lost', run);
  dataVerb(cluster, 'status', 'shows processes, shards, NATS servers, streams, and what is wrong with them', run);
  dataVerb(cluster, 'drain <process>', 'a process shall own nothing; as an edge it goes on', run)
    .addOption(WAIT())
    .addHelpText('after', PROCESS);
  dataVerb(cluster, 'undrain <process>', 'it may own shards again', run).addHelpText('after', PROCESS);
  dataVerb(cluster, 'move <shard> <process>', 'a shard shall be there; anywhere: where it belongs by itself', run)
    .addOption(WAIT())
    .addHelpText('after', PROCESS);
  dataVerb(cluster, 'upgrade', 'lets forms of this release be stored; older programs are refused from then on', run);
  return cluster;
}
