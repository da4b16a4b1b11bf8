/**
 * The states of a cluster that need an operator's attention, one line each. A line has no number that changes while the
 * state lasts, because the log writes each different line once.
 */
import type { ClusterStatus } from '../../ports/index.js';

/** The part of a server's storage above which it is reported. */
const NEARLY_FULL = 0.85;
/** A replica that is fewer messages late is catching up normally. */
const LAGGING_MESSAGES = 1_000;
/** Names listed in one alarm; the cluster's status lists all of them. */
const MAX_LISTED = 5;

export function alarmsOf(status: Omit<ClusterStatus, 'alarms'>): string[] {
  return [...serverAlarms(status), ...streamAlarms(status), ...processAlarms(status), ...shardAlarms(status)];
}

function* serverAlarms({ servers }: Pick<ClusterStatus, 'servers'>): Iterable<string> {
  for (const { name, state, storedBytes = 0, storeLimitBytes = 0 } of servers) {
    if (state === 'missing') yield `NATS server ${name} does not answer`;
    if (state === 'no-store')
      yield `NATS server ${name} cannot store: JetStream is off there; check its disk and restart it`;
    const share = storeLimitBytes === 0 ? 0 : storedBytes / storeLimitBytes;
    if (share >= NEARLY_FULL)
      yield `NATS server ${name} has used more than ${NEARLY_FULL * 100} % of its storage limit`;
  }
}

function* streamAlarms({ streams }: Pick<ClusterStatus, 'streams'>): Iterable<string> {
  const without = streams.filter(({ leader }) => leader === undefined);
  if (without.length > 0) yield `without a leader: ${listed(without.map(({ stream }) => stream))}`;
  const behind = new Map<string, string[]>();
  for (const { stream, lagging } of streams) {
    for (const { server, behind: messages, isOffline } of lagging) {
      if (!isOffline && messages < LAGGING_MESSAGES) continue;
      behind.set(server, [...(behind.get(server) ?? []), stream]);
    }
  }
  for (const [server, names] of behind) yield `NATS server ${server} lacks the newest of ${listed(names)}`;
}

function* processAlarms({ processes }: Pick<ClusterStatus, 'processes'>): Iterable<string> {
  for (const { process, state, checks = [], stopped = [], isClockInDoubt } of processes) {
    if (state === 'silent') yield `process ${process} does not answer`;
    const unwell = checks.filter(({ ok }) => !ok).map(({ name }) => name);
    if (unwell.length > 0) yield `process ${process} is not ready: ${unwell.join(', ')}`;
    for (const { shard, why } of stopped) yield `process ${process} has stopped ${shard}: ${why}`;
    if (isClockInDoubt === true) yield `process ${process}: its machine's clock is in doubt`;
  }
}

function* shardAlarms({ shards }: Pick<ClusterStatus, 'shards'>): Iterable<string> {
  const alone = shards.filter(({ owner }) => owner === undefined).map(({ shard }) => shard);
  if (alone.length > 0) yield `without an owner: ${listed(alone)}`;
}

function listed(names: readonly string[]): string {
  const more = names.length - MAX_LISTED;
  return more > 0 ? `${names.slice(0, MAX_LISTED).join(', ')} and ${more} more` : names.join(', ');
}
