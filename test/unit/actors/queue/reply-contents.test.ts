import { expect } from 'chai';
import { withContents } from '../../../../src/actors/queue/reply-contents.js';
import type { DlqEntry, QueueReply, QueueReplyOf } from '../../../../src/domain/queue/index.js';
import type { FailedRunView, FailureFunction } from '../../../../src/domain/queue/runs/index.js';
import type { DlqId, MessageId } from '../../../../src/kernel/index.js';
import { envelopeOf, RUN_CREATED_AT_MS, RUN_ID, Shelf } from '../../../support/run-attempts.js';

const ID = 'msg_1' as MessageId;

function runReply(shelf: Shelf, numbers: readonly number[]): QueueReply {
  const entries = numbers.map((number) => ({ messageId: ID, body: shelf.ref(number), content: undefined }));
  return { type: 'Run', run: { runId: RUN_ID, createdAtMs: RUN_CREATED_AT_MS }, entries, nextFrom: undefined };
}

function contentsOf(reply: QueueReply): (string | undefined)[] {
  return (reply as QueueReplyOf<'Run'>).entries.map(({ content }) => content && Buffer.from(content).toString());
}

function failedRun(shelf: Shelf, payload: number, response: number, told?: number): FailedRunView {
  const envelope = envelopeOf();
  const entry: DlqEntry = {
    dlqId: '1-1' as DlqId,
    messageId: ID,
    envelope,
    body: shelf.ref(payload),
    createdAtMs: 1,
    notBeforeMs: 1,
    failedAtMs: 2,
    retried: 0,
    response: { status: 500, header: [], body: shelf.ref(response), error: 'HTTP status 500' },
  };
  const failureFunction: FailureFunction = {
    state: 'CALLBACK_SUCCESS',
    messageId: ID,
    url: 'https://app.example/',
    status: 200,
    header: [],
    body: shelf.ref(told ?? 0),
    request: shelf.ref(0),
  };
  return {
    entry,
    runId: RUN_ID,
    runCreatedAtMs: RUN_CREATED_AT_MS,
    envelope,
    payload: shelf.ref(payload),
    payloadContent: undefined,
    responseContent: undefined,
    failureFunction: told === undefined ? undefined : failureFunction,
    failureFunctionContent: undefined,
  };
}

describe('an answer with the entries of a run', () => {
  it('has their contents synchronously when they are in memory', () => {
    const shelf = new Shelf('payload', 'one');
    const reply = withContents(runReply(shelf, [1, 2]), shelf);
    expect(reply).to.not.be.instanceOf(Promise);
    expect(contentsOf(reply as QueueReply)).to.deep.equal(['payload', 'one']);
  });

  it('has their contents in order when some have to be read', async () => {
    const shelf = new Shelf('payload', 'one', 'two');
    shelf.away.add(2);
    const reply = withContents(runReply(shelf, [1, 2, 3, 0]), shelf);
    expect(reply).to.be.instanceOf(Promise);
    expect(contentsOf(await reply)).to.deep.equal(['payload', 'one', 'two', '']);
  });
});

describe('an answer with failed runs', () => {
  it('has the payload of each, its last answer, and the answer of its failure function', async () => {
    const shelf = new Shelf('payload a', 'answer a', 'told a', 'payload b');
    shelf.away.add(3);
    const runs = [failedRun(shelf, 1, 2, 3), failedRun(shelf, 4, 0), failedRun(shelf, 0, 0, 0)];
    const reply = (await withContents(
      { type: 'FailedRuns', runs, after: undefined },
      shelf,
    )) as QueueReplyOf<'FailedRuns'>;
    const text = (content: Uint8Array | undefined) => content && Buffer.from(content).toString();
    expect(
      reply.runs.map(({ payloadContent, responseContent, failureFunctionContent }) =>
        [payloadContent, responseContent, failureFunctionContent].map(text),
      ),
    ).to.deep.equal([
      ['payload a', 'answer a', 'told a'],
      ['payload b', '', undefined],
      ['', '', ''],
    ]);
  });
});
