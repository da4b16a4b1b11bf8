/**
 * Commands that send messages to the queue: a message, a workflow run, a schedule, an event. They add records to the
 * partition's outbox, in the entry of the other changes (docs/decisions/queue.md).
 */
import { NO_KEYS } from '../command-description.js';
import type { CommandContext, CommandSpec } from '../command-spec.js';
import { type OutboxCallKind, PENDING_EFFECT, SENT_EFFECT } from '../outbox.js';
import { OK, type Reply, unknownCommand } from '../reply.js';
import { family, NOT_IN_REDIS, type Row, row } from './rows.js';

/** The parameter that names the account of the messages. */
export const QUEUE_ACCOUNT = 'queue-account';

const NOT_OF_REDIS =
  'Redis has no such command. The message is stored with the other changes of the transaction or script, and is sent once.';

function sends(kind: OutboxCallKind): Pick<Row, 'handler' | 'judge' | 'flags' | 'keys' | 'deviations'> {
  const composed = ({ outbox, args, settings, nowMs }: CommandContext) =>
    outbox.compose(kind, args.words, settings.get(QUEUE_ACCOUNT) ?? '', nowMs);
  return {
    flags: ['write', 'denyoom'],
    keys: NO_KEYS,
    deviations: [NOT_OF_REDIS],
    judge: (context) => context.outbox.judge(context.args.words, composed(context)),
    handler: (context): Reply => {
      const { outbox, args, nowMs } = context;
      const { record, id } = outbox.takeJudged(args.words) ?? composed(context);
      outbox.add(record, nowMs);
      return id;
    },
  };
}

export const QUEUE: readonly CommandSpec[] = family('queue', [
  row('QUEUE.PUBLISH', -3, NOT_IN_REDIS, 'Publishes a message to a URL or a URL group.', sends('publish')),
  row('QUEUE.TRIGGER', -3, NOT_IN_REDIS, 'Starts a workflow run.', sends('trigger')),
  row('QUEUE.SCHEDULE', -5, NOT_IN_REDIS, 'Makes or changes a schedule of messages.', sends('schedule')),
  row('QUEUE.NOTIFY', 3, NOT_IN_REDIS, 'Wakes the workflow runs that wait for an event.', sends('notify')),
]);

/** Effects of these commands, and of their relay. They only run in replay. */
export const QUEUE_EFFECTS: readonly CommandSpec[] = family('queue', [
  row(PENDING_EFFECT, 3, NOT_IN_REDIS, 'A message waits for the queue.', {
    ...replayed(({ outbox, args }) => outbox.replayPending({ sequence: args.integer(1), record: args.bytes(2) })),
  }),
  row(SENT_EFFECT, 2, NOT_IN_REDIS, 'The queue has accepted the messages up to a sequence.', {
    ...replayed(({ outbox, args }) => outbox.replaySent(args.integer(1))),
  }),
]);

function replayed(apply: (context: CommandContext) => void): Pick<Row, 'handler' | 'flags' | 'keys'> {
  return {
    flags: ['write', 'noscript'],
    keys: NO_KEYS,
    handler: (context): Reply => {
      if (!context.isReplay) throw unknownCommand(context.args.words);
      apply(context);
      return OK;
    },
  };
}
