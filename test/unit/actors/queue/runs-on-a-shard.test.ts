/** Runs on a shard with a change of owner, and on one with a full disk. */
import { expect } from 'chai';
import type { QueueWork } from '../../../../src/actors/queue/index.js';
import type { ShardActor } from '../../../../src/actors/runtime/index.js';
import type { PublishItem, QueueCommand } from '../../../../src/domain/queue/index.js';
import { type DlqId, MillraceError } from '../../../../src/kernel/index.js';
import { PLAIN_DELIVERY } from '../../../support/plain-delivery.js';
import { QueueShardStand } from '../../../support/queue-shard-stand.js';
import type { ScriptedCall } from '../../../support/scripted-http.js';
import { asked, callItem, entryItem, mark, message, run, triggerItem } from '../../../support/workflow-spec.js';

const REPLACED = new MillraceError('FENCED', 'somebody else', { outcome: 'unknown' });
const FAILURE_FUNCTION = { url: 'https://app.example/flow', settings: PLAIN_DELIVERY };

class Stand extends QueueShardStand {
  actor!: ShardActor<QueueWork>;

  async own(): Promise<this> {
    this.actor = await this.serving();
    return this;
  }

  /** Another owner, which knows the shard from its journal. */
  async succeed(): Promise<void> {
    this.actor.end(REPLACED);
    this.actor = await this.serving();
    await this.time.advance(60_000);
    await this.settle();
  }

  /** Another owner, which knows all of it from a snapshot alone. */
  async succeedFromSnapshot(): Promise<void> {
    const { manifest, manifestDigest, coveredNumber } = await this.compact(this.actor);
    await this.actor.appendSnapshot(manifest, manifestDigest, coveredNumber);
    await this.succeed();
  }

  async submit(...items: PublishItem[]): Promise<void> {
    const outcome = this.publish(this.actor, items);
    await this.settle();
    expect(outcome.reply?.type, JSON.stringify(outcome)).to.equal('Published');
  }

  async answer(status: number, body = ''): Promise<void> {
    this.http.open[0]?.answer(status, body);
    await this.settle();
  }

  get lastCall(): ScriptedCall {
    expect(this.http.open).to.have.length(1);
    return this.http.open[0] as ScriptedCall;
  }
}

function textOf({ body }: ScriptedCall): string {
  return Buffer.from(body).toString();
}

function idOf({ headers }: ScriptedCall): string | undefined {
  return headers.find(([name]) => name === 'Svc-Message-Id')?.[1];
}

function bodiesIn(call: ScriptedCall): string[] {
  const list = JSON.parse(textOf(call)) as { body: string }[];
  return list.map(({ body }) => Buffer.from(body, 'base64').toString());
}

/** The endpoint of this stand is no workflow endpoint: its answers have no version. */
const PLAIN_MARK = { detectsTrigger: false, needsRecentClient: false, canFetch: true, isConfiguredByTrigger: true };

async function standAtStepTwo(): Promise<Stand> {
  const stand = await new Stand().own();
  await stand.submit(triggerItem('r', { mark: PLAIN_MARK, maxRetries: 0, failureCallback: FAILURE_FUNCTION }));
  await stand.submit(entryItem('r', 1, { mark: PLAIN_MARK }));
  await stand.answer(200);
  await stand.answer(200);
  await stand.submit(entryItem('r', 2, { mark: PLAIN_MARK }));
  expect(bodiesIn(stand.lastCall)).to.deep.equal(['payload of r', 'record r#1', 'record r#2']);
  return stand;
}

describe('the delivery of a step that was open when its owner ended', () => {
  it('is made again by the next owner with the same body, for the same entry', async () => {
    const stand = await standAtStepTwo();
    const before = stand.lastCall;
    await stand.succeed();
    expect(before.signal.aborted).to.equal(true);
    expect(textOf(stand.lastCall)).to.equal(textOf(before));
    expect(idOf(stand.lastCall)).to.equal(idOf(before));
    expect(idOf(stand.lastCall)).to.equal('r#2');
  });

  it('is made again unchanged by an owner that knows the run from a snapshot alone', async () => {
    const stand = await standAtStepTwo();
    const before = stand.lastCall;
    await stand.succeedFromSnapshot();
    expect(textOf(stand.lastCall)).to.equal(textOf(before));
    expect(idOf(stand.lastCall)).to.equal(idOf(before));
  });

  it('is made again from entries that have to be read first', async () => {
    const stand = new Stand();
    stand.bodyMemoryBytes = 0;
    await stand.own();
    await stand.submit(triggerItem('r', { mark: PLAIN_MARK, body: 'long ago' }));
    await stand.answer(200);
    await stand.submit(entryItem('r', 1, { mark: PLAIN_MARK, body: 'lately' }));
    await stand.succeed();
    expect(bodiesIn(stand.lastCall)).to.deep.equal(['long ago', 'lately']);
  });

  it('ends before entries that were appended later, which are delivered separately', async () => {
    const stand = await standAtStepTwo();
    await stand.submit(entryItem('r', 3, { mark: PLAIN_MARK }));
    await stand.succeed();
    const lists = stand.http.open.map(bodiesIn).sort((a, b) => a.length - b.length);
    expect(lists).to.deep.equal([
      ['payload of r', 'record r#1', 'record r#2'],
      ['payload of r', 'record r#1', 'record r#2', 'record r#3'],
    ]);
  });

  it('is not made again for a run that is over', async () => {
    const stand = await standAtStepTwo();
    const finish = { type: 'EndRun', runId: run('r'), how: 'finish', response: undefined } as const;
    const outcome = stand.ask(stand.actor, finish);
    await stand.settle();
    expect(outcome.reply?.type).to.equal('Done');
    const calls = stand.http.calls.length;
    await stand.succeed();
    expect(stand.http.calls).to.have.length(calls);
    expect((await stand.entries()).flat().at(-1)).to.include({ type: 'MessageCancelled', id: 'r#2' });
  });

  it('is not made again for a run that was over before the snapshot', async () => {
    const stand = await standAtStepTwo();
    stand.ask(stand.actor, { type: 'EndRun', runId: run('r'), how: 'cancel', response: undefined });
    await stand.settle();
    const calls = stand.http.calls.length;
    await stand.succeedFromSnapshot();
    expect(stand.http.calls).to.have.length(calls);
    expect((await stand.entries()).flat().at(-1)).to.include({ type: 'MessageCancelled', id: 'r#2' });
  });
});

describe('a third-party call that was open when its owner ended', () => {
  it('is made again, and its outcome is recorded once, with the sent body', async () => {
    const stand = await new Stand().own();
    await stand.submit(triggerItem('r', { mark: PLAIN_MARK }));
    await stand.answer(200);
    await stand.submit(callItem('r', 1, { body: 'question' }));
    await stand.succeed();
    expect(textOf(stand.lastCall)).to.equal('question');
    await stand.answer(200, 'answer');
    const result = stand.lastCall;
    const { sourceBody, body } = JSON.parse(textOf(result)) as Record<string, string>;
    expect([sourceBody, body].map((text) => Buffer.from(text ?? '', 'base64').toString())).to.deep.equal([
      'question',
      'answer',
    ]);
  });
});

describe('the message to a failure function', () => {
  it('includes the payload, also after a change of owner', async () => {
    const stand = await standAtStepTwo();
    await stand.answer(500, '{"message":"broken"}');
    const told = JSON.parse(textOf(stand.lastCall)) as Record<string, string>;
    expect(Buffer.from(told.sourceBody ?? '', 'base64').toString()).to.equal('payload of r');
    expect(Buffer.from(told.body ?? '', 'base64').toString()).to.equal('{"message":"broken"}');
    expect(told.workflowRunId).to.equal('r');
    const before = textOf(stand.lastCall);
    await stand.succeedFromSnapshot();
    expect(textOf(stand.lastCall)).to.equal(before);
  });
});

describe('the entries of a run', () => {
  it('can be fetched with their contents', async () => {
    const stand = await standAtStepTwo();
    const look = stand.ask(stand.actor, { type: 'GetRun', runId: run('r'), from: 0, maxBytes: 1024 * 1024 });
    await stand.settle();
    const entries = look.reply?.type === 'Run' ? look.reply.entries : [];
    expect(entries.map(({ messageId, content }) => [messageId, Buffer.from(content ?? '').toString()])).to.deep.equal([
      ['r#0', 'payload of r'],
      ['r#1', 'record r#1'],
      ['r#2', 'record r#2'],
    ]);
  });
});

describe('a nearly full disk', () => {
  it('refuses steps, waits, events, and commands that start runs again', async () => {
    const stand = await standAtStepTwo();
    stand.storage.full = true;
    const dlqId = '1-1' as DlqId;
    const refused: readonly QueueCommand[] = [
      { type: 'Publish', items: [entryItem('r', 3)], isTold: false },
      {
        type: 'Wait',
        runId: run('r'),
        eventId: 'e',
        resultId: message('r#3'),
        step: mark(3),
        stepText: '{}',
        timeoutText: '1s',
        timeoutSeconds: 1,
        timeoutBody: undefined,
        onNotify: asked(),
        onTimeout: asked(),
      },
      {
        type: 'Notify',
        eventId: 'e',
        runId: run('r'),
        firstId: message('n'),
        content: Buffer.from('event'),
        isHook: false,
      },
      {
        type: 'ResumeRuns',
        how: 'resume',
        selector: { kind: 'ids', dlqIds: [dlqId] },
        firstRunId: run('again'),
        firstId: message('again'),
        overrides: { headers: [], query: [] },
      },
      { type: 'RunFailureFunction', dlqId, messageId: message('again') },
    ];
    for (const command of refused) {
      const outcome = stand.ask(stand.actor, command);
      await stand.settle();
      expect(outcome, command.type).to.deep.equal({ failure: 'STORAGE_FULL' });
    }
  });

  it('lets runs end, and be read', async () => {
    const stand = await standAtStepTwo();
    stand.storage.full = true;
    const look = stand.ask(stand.actor, { type: 'GetRun', runId: run('r'), from: 0, maxBytes: 100 });
    await stand.answer(200);
    const finish = stand.ask(stand.actor, {
      type: 'EndRun',
      runId: run('r'),
      how: 'finish',
      response: Buffer.from('"done"'),
    });
    await stand.settle();
    expect(look.reply?.type).to.equal('Run');
    expect(finish.reply?.type).to.equal('Done');
    const types = (await stand.entries()).flat().map(({ type }) => type);
    expect(types.slice(-2)).to.deep.equal(['MessageDelivered', 'RunEnded']);
  });
});
