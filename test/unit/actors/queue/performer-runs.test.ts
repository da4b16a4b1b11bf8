/** Calls for messages of runs: their contents, and the parts that are kept for later steps. */
import { expect } from 'chai';
import type { StartedAttempt } from '../../../../src/actors/queue/index.js';
import { KEPT_RESPONSE_BYTES } from '../../../../src/domain/queue/index.js';
import type { RunPart } from '../../../../src/domain/queue/runs/index.js';
import type { MessageId } from '../../../../src/kernel/index.js';
import { PerformerStand } from '../../../support/performer-stand.js';
import { PLAIN_DELIVERY, PLAIN_ENVELOPE } from '../../../support/plain-delivery.js';
import { GENEROUS } from '../../../support/queue-shard-stand.js';
import {
  CALL_PART,
  failurePart,
  partAttempt,
  RESULT_PART,
  RUN_CREATED_AT_MS,
  RUN_ID,
  Shelf,
  stepAttempt,
  stepPart,
} from '../../../support/run-attempts.js';

const CALLBACK = { url: 'https://app.example/flow', settings: PLAIN_DELIVERY };
const MIB = 1024 * 1024;

function standWith(shelf: Shelf, lists?: ConstructorParameters<typeof PerformerStand>[0]): PerformerStand {
  const stand = new PerformerStand(lists);
  stand.contents.clear();
  shelf.contents.forEach((content, at) => {
    if (!shelf.away.has(at + 1)) stand.contents.set(at + 1, content);
  });
  return stand;
}

/** The account references these bodies. */
function need({ queue }: PerformerStand, ...numbers: number[]): void {
  for (const number of numbers) {
    queue.fold.engine.evolve({
      type: 'MessageAccepted',
      id: `msg_holder${number}` as MessageId,
      atMs: 0,
      envelope: PLAIN_ENVELOPE,
      body: { number, bytes: 1, content: undefined },
      notBeforeMs: 0,
      deduplication: undefined,
      retryOf: undefined,
      holdsPlaceOf: undefined,
    });
  }
}

function headersOf({ http }: PerformerStand, nth = 0): Record<string, string> {
  return Object.fromEntries(http.calls[nth]?.headers ?? []);
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

async function recorded(stand: PerformerStand) {
  await stand.time.advance(0);
  const command = stand.works.at(-1)?.command;
  return command?.type === 'RecordAttempt' ? command : undefined;
}

describe('the delivery of a step', () => {
  it('has the list of entries as body, with the name of the run and of the entry', async () => {
    const shelf = new Shelf('payload', 'record');
    const stand = standWith(shelf);
    await stand.make(stepAttempt(shelf, [1, 2]));
    expect(JSON.parse(stand.sent()[0] as string)).to.deep.equal([
      { messageId: 'msg_0', body: base64('payload'), callType: 'step' },
      { messageId: 'msg_1', body: base64('record'), callType: 'step' },
    ]);
    expect(headersOf(stand)).to.include({
      'Svc-Workflow-RunId': RUN_ID,
      'Svc-Workflow-CreatedAt': String(RUN_CREATED_AT_MS),
      'Svc-Message-Id': 'msg_1',
      'Svc-Retried': '0',
      'Svc-Signature': 'signed',
    });
  });

  it('carries the id of the entry although the message of the attempt has another id', async () => {
    const shelf = new Shelf('payload');
    const stand = standWith(shelf);
    await stand.make({ ...stepAttempt(shelf, [1]), id: 'msg_before' as MessageId });
    expect(headersOf(stand)['Svc-Message-Id']).to.equal('msg_0');
    stand.http.open[0]?.answer(200);
    expect((await recorded(stand))?.id).to.equal('msg_before');
  });

  it('waits until all entries can be read', async () => {
    const shelf = new Shelf('payload', 'record');
    shelf.away.add(1);
    const stand = standWith(shelf);
    need(stand, 1, 2);
    stand.loads.push('JOURNAL_UNAVAILABLE', 'payload');
    await stand.make(stepAttempt(shelf, [1, 2]));
    expect(stand.sent()).to.deep.equal([]);
    await stand.time.advance(200);
    expect(JSON.parse(stand.sent()[0] as string)[0].body).to.equal(base64('payload'));
  });

  it('has an empty body, signed as such, when the endpoint is left to fetch the list', async () => {
    const shelf = new Shelf('payload', 'record');
    const stand = standWith(shelf, { inlineBytes: 10, inFlightBytes: MIB });
    await stand.make(stepAttempt(shelf, [1, 2]));
    expect(stand.sent()).to.deep.equal(['']);
    expect(stand.http.calls[0]?.headers.filter(([name]) => name === 'Content-Type')).to.deep.equal([
      ['Content-Type', 'application/json'],
    ]);
    expect(headersOf(stand)['Svc-Message-Id']).to.equal('msg_1');
  });

  it('leaves the list for the endpoint to fetch while many long lists are being delivered', async () => {
    const shelf = new Shelf('x'.repeat(60 * 1024));
    const stand = standWith(shelf, { inlineBytes: MIB, inFlightBytes: 100 * 1024 });
    await stand.make(stepAttempt(shelf, [1]));
    await stand.make(stepAttempt(shelf, [1]));
    expect(stand.sent().map(({ length }) => length > 0)).to.deep.equal([true, false]);
    stand.http.open[0]?.answer(200);
    await stand.time.advance(0);
    const [work] = stand.works;
    if (work !== undefined) work.reply = { type: 'Done' };
    work?.release(1);
    await stand.make(stepAttempt(shelf, [1]));
    expect(stand.sent()[2]?.length).to.be.greaterThan(0);
  });

  it('waits for memory when its list is long and cannot be fetched, and is sent alone if necessary', async () => {
    const shelf = new Shelf('x'.repeat(60 * 1024));
    const stand = standWith(shelf, { inlineBytes: 1024, inFlightBytes: 100 * 1024 });
    await stand.make(stepAttempt(shelf, [1], { canFetch: false }));
    await stand.make(stepAttempt(shelf, [1], { canFetch: false }));
    await stand.time.advance(500);
    expect(stand.sent()).to.have.length(1);
    stand.http.open[0]?.answer(200);
    await stand.time.advance(0);
    const [work] = stand.works;
    if (work !== undefined) work.reply = { type: 'Done' };
    work?.release(1);
    await stand.time.advance(500);
    expect(stand.sent()).to.have.length(2);

    const alone = standWith(shelf, { inlineBytes: 1024, inFlightBytes: 1024 });
    await alone.make(stepAttempt(shelf, [1], { canFetch: false }));
    expect(alone.sent()).to.have.length(1);
  });

  it('yields while a long list is put together, and is not made once the activation is over', async () => {
    const shelf = new Shelf('payload', Buffer.alloc(4 * MIB));
    const stand = standWith(shelf);
    stand.performer.perform(stand.queue, GENEROUS, stepAttempt(shelf, [1, 2], { canFetch: false }));
    await stand.time.yieldToEventLoop();
    expect(stand.http.calls).to.have.length(0);
    stand.performer.end();
    await stand.time.advance(0);
    expect(stand.http.calls).to.have.length(0);

    const another = standWith(shelf);
    await another.make(stepAttempt(shelf, [1, 2], { canFetch: false }));
    while (another.http.calls.length === 0) await another.time.advance(0);
    expect(JSON.parse(another.sent()[0] as string)).to.have.length(2);
  });

  it('fails when the list can be neither sent nor fetched', async () => {
    const shelf = new Shelf(Buffer.alloc(MIB));
    const stand = standWith(shelf);
    const numbers = Array.from({ length: 64 }, () => 1);
    await stand.make(stepAttempt(shelf, numbers, { canFetch: false }));
    expect(stand.http.calls).to.have.length(0);
    expect((await recorded(stand))?.outcome).to.include({
      kind: 'no-response',
      error: `the run's entries are longer than ${64 * MIB} bytes`,
    });
  });

  it('fails with an alarm when an entry is lost', async () => {
    const shelf = new Shelf('payload', 'record');
    shelf.away.add(1);
    const stand = standWith(shelf);
    need(stand, 1, 2);
    stand.loads.push('JOURNAL_DAMAGED');
    await stand.make(stepAttempt(shelf, [1, 2]));
    await stand.time.advance(10_000);
    expect(stand.alarms).to.deep.equal(['queue.body-lost']);
    expect((await recorded(stand))?.outcome).to.include({ kind: 'no-response' });
  });

  it('raises no alarm when its run ends while the entries are being read', async () => {
    const shelf = new Shelf('payload', 'record');
    shelf.away.add(1);
    const stand = standWith(shelf);
    need(stand, 2);
    stand.loads.push('JOURNAL_DAMAGED');
    await stand.make(stepAttempt(shelf, [1, 2]));
    expect(stand.alarms).to.deep.equal([]);
    expect((await recorded(stand))?.outcome).to.include({ kind: 'no-response', error: 'the run is over' });
  });
});

describe('the call to a third party', () => {
  it('carries no header of the run, and is remembered as it was sent', async () => {
    const shelf = new Shelf('asked');
    const stand = standWith(shelf);
    const settings = { ...PLAIN_DELIVERY, callback: CALLBACK };
    await stand.make(partAttempt(shelf, CALL_PART, { settings }));
    expect(stand.sent()).to.deep.equal(['asked']);
    expect(Object.keys(headersOf(stand)).filter((name) => name.startsWith('Svc-Workflow'))).to.deep.equal([]);
    stand.http.open[0]?.answer(200, 'told');
    expect(Buffer.from((await recorded(stand))?.sentBody ?? '').toString()).to.equal('asked');
  });
});

describe('a message of a run that has ended since its attempt was started', () => {
  const END = { type: 'RunEnded', runId: RUN_ID, atMs: 2, response: undefined } as const;

  /** A run with an open attempt for this part; the call is not made yet. */
  function started(part: RunPart): { stand: PerformerStand; attempt: StartedAttempt } {
    const shelf = new Shelf('asked');
    const stand = standWith(shelf);
    const { engine } = stand.queue.fold;
    const attempt = partAttempt(shelf, part);
    const { envelope, id } = attempt;
    const accepted = { atMs: 1, notBeforeMs: 1, deduplication: undefined, retryOf: undefined, holdsPlaceOf: undefined };
    engine.evolve({
      type: 'RunStarted',
      runId: RUN_ID,
      atMs: RUN_CREATED_AT_MS,
      envelope,
      invoker: undefined,
      resumedFrom: undefined,
      kept: [],
      payloadHash: '',
    });
    const body = { ...attempt.body, content: undefined };
    engine.evolve({ type: 'MessageAccepted', ...accepted, id, envelope, body, workflow: part });
    engine.evolve({ type: 'AttemptStarted', id, atMs: 1, retried: 0, restarts: 0 });
    return { stand, attempt };
  }

  for (const [kind, part] of [
    ['a step', stepPart(0)],
    ['a call to a third party', CALL_PART],
    ['the result of a call', RESULT_PART],
  ] as const) {
    it(`is not sent when it is ${kind}`, async () => {
      const { stand, attempt } = started(part);
      const entries =
        part.role === 'step' ? [{ messageId: attempt.id, body: attempt.body, step: undefined, createdAtMs: 1 }] : [];
      const made = stand.make({ ...attempt, run: { part, entries } });
      stand.queue.fold.engine.evolve({ ...END, state: 'RUN_CANCELED', dlqId: undefined, error: undefined });
      await made;
      expect(stand.sent()).to.deep.equal([]);
      expect((await recorded(stand))?.outcome).to.include({ kind: 'no-response', error: 'the run is over' });
    });

    it(`is sent when it is ${kind} and the run continues`, async () => {
      const { stand, attempt } = started(part);
      await stand.make(attempt);
      expect(stand.sent()).to.have.length(1);
    });
  }

  it('is sent when it is the message to the failure function', async () => {
    const shelf = new Shelf('{"sourceBody":""}');
    const stand = standWith(shelf);
    await stand.make(partAttempt(shelf, failurePart(shelf.ref(0))));
    expect(stand.sent()).to.have.length(1);
  });
});

describe('the message to the failure function', () => {
  it('includes the payload of the run', async () => {
    const shelf = new Shelf('{"sourceBody":"","workflowRunId":"wfr_1"}', 'payload');
    const stand = standWith(shelf);
    await stand.make(partAttempt(shelf, failurePart(shelf.ref(2))));
    expect(JSON.parse(stand.sent()[0] as string)).to.deep.equal({
      sourceBody: base64('payload'),
      workflowRunId: RUN_ID,
    });
    expect(headersOf(stand)).to.include({ 'Svc-Workflow-RunId': RUN_ID });
  });
});

describe('the answer to a message of a run', () => {
  it('is read up to the largest message size, because the failure function gets it when the run fails', async () => {
    const shelf = new Shelf('{"sourceBody":""}', 'record');
    const stand = standWith(shelf);
    await stand.make(stepAttempt(shelf, [1, 2]));
    await stand.make(partAttempt(shelf, CALL_PART));
    await stand.make(partAttempt(shelf, RESULT_PART));
    await stand.make(partAttempt(shelf, failurePart(shelf.ref(2))));
    const { maxMessageBytes } = GENEROUS.limits;
    expect(maxMessageBytes).to.be.greaterThan(KEPT_RESPONSE_BYTES);
    expect(stand.http.calls.map(({ maxResponseBytes }) => maxResponseBytes)).to.deep.equal(
      Array(4).fill(maxMessageBytes),
    );
  });

  it('is recorded without the sent body, which the run already has', async () => {
    const shelf = new Shelf('{"sourceBody":""}', 'record');
    const settings = { ...PLAIN_DELIVERY, callback: CALLBACK, failureCallback: CALLBACK };
    for (const attempt of [
      { ...stepAttempt(shelf, [1, 2]), envelope: partAttempt(shelf, RESULT_PART, { settings }).envelope },
      partAttempt(shelf, RESULT_PART),
      partAttempt(shelf, failurePart(shelf.ref(2))),
    ]) {
      const stand = standWith(shelf);
      await stand.make(attempt);
      stand.http.open[0]?.answer(500, 'no');
      expect(await recorded(stand)).to.include({ sentBody: undefined });
    }
  });
});
