/**
 * Adds bodies to answers: the state has their numbers, the actor their bytes. Bytes in memory are taken immediately,
 * because the message may end before the answer is sent; the rest is read first.
 */
import type { BodyRef, QueueReply, QueueReplyOf } from '../../domain/queue/index.js';
import type { PartitionBodies } from './account-queue.js';

type FailedRuns = QueueReplyOf<'FailedRuns'>;
type Contents = Pick<PartitionBodies, 'get' | 'load'>;

/** @throws (in the promise) JOURNAL_UNAVAILABLE, JOURNAL_DAMAGED */
export function withContents(reply: QueueReply, bodies: Contents): QueueReply | Promise<QueueReply> {
  switch (reply.type) {
    case 'Message':
      return joined([reply.message.body], bodies, ([content]) => ({ ...reply, content }));
    case 'Dlq': {
      const { body, response } = reply.entry;
      return joined([body, response.body], bodies, ([content, received]) => ({
        ...reply,
        content,
        response: received,
      }));
    }
    case 'Schedules': {
      const { schedules } = reply;
      const refs = schedules.map(({ schedule }) => schedule.body);
      return joined(refs, bodies, (contents) => ({
        ...reply,
        schedules: schedules.map((one, at) => ({ ...one, content: contents[at] })),
      }));
    }
    case 'Run': {
      const { entries } = reply;
      const refs = entries.map(({ body }) => body);
      return joined(refs, bodies, (contents) => ({
        ...reply,
        entries: entries.map((one, at) => ({ ...one, content: contents[at] })),
      }));
    }
    case 'FailedRuns':
      return failedRunsWithContents(reply, bodies);
    default:
      return reply;
  }
}

const REFS_OF_A_FAILED_RUN = 3;

function failedRunsWithContents(reply: FailedRuns, bodies: Contents): QueueReply | Promise<QueueReply> {
  const refs = reply.runs.flatMap(({ payload, entry, failureFunction }) => [
    payload,
    entry.response.body,
    failureFunction?.body ?? EMPTY_BODY,
  ]);
  return joined(refs, bodies, (contents) => ({
    ...reply,
    runs: reply.runs.map((one, index) => {
      const at = index * REFS_OF_A_FAILED_RUN;
      return {
        ...one,
        payloadContent: contents[at],
        responseContent: contents[at + 1],
        failureFunctionContent: one.failureFunction === undefined ? undefined : contents[at + 2],
      };
    }),
  }));
}

function joined(
  refs: readonly BodyRef[],
  bodies: Contents,
  join: (contents: readonly Uint8Array[]) => QueueReply,
): QueueReply | Promise<QueueReply> {
  const contents = refs.map(({ number }) => (number === 0 ? NOTHING : (bodies.get(number) ?? bodies.load(number))));
  if (contents.every((content) => content instanceof Uint8Array)) return join(contents);
  return Promise.all(contents).then(join);
}

const NOTHING = new Uint8Array(0);
const EMPTY_BODY: BodyRef = { number: 0, bytes: 0 };
