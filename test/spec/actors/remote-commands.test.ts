/** Proves RC1–RC5, RQ1, RQ2, RQ4, RQ5, SA7, MB2. */
import { expect } from 'chai';
import { KvShardGateway, type KvWork, serveKvShard } from '../../../src/actors/kv-shard/index.js';
import { type ShardActor, ShardCaller } from '../../../src/actors/runtime/index.js';
import {
  decodeAnswer,
  decodeRemoteCommand,
  encodeKvRequest,
  encodeRemoteCommand,
  type RemoteCommand,
} from '../../../src/codec/remote/index.js';
import { OK, type Reply } from '../../../src/domain/kv/index.js';
import { type CommandId, type DatabaseId, isMillraceError, type MillraceError } from '../../../src/kernel/index.js';
import { kvPartition } from '../../../src/protocol/index.js';
import { eventually } from '../../support/eventually.js';
import { KvShardStand, SHARD } from '../../support/kv-shard-stand.js';
import { type MemoryBus, MemoryNetwork } from '../../support/memory/index.js';

const DATABASE = 'db-aaaaaaaaaaaaaaaa' as DatabaseId;
const LIMITS = { deadlineMs: 1000, tryMs: 200, pauseMs: 50, settleMs: 500, storingMs: 3000 };
const TOPIC = { kind: 'command', shard: SHARD } as const;

interface Told {
  reply?: Reply;
  failure?: MillraceError;
  afterMs?: number;
}

describe('a command to an owner in another process', () => {
  let stand: KvShardStand;
  let network: MemoryNetwork;
  let edge: MemoryBus;
  let gateway: KvShardGateway;

  beforeEach(() => {
    stand = new KvShardStand();
    const { time } = stand;
    network = new MemoryNetwork(time);
    edge = network.connect();
    const random = { bytes: (count: number) => new Uint8Array(count), float: () => 0.5 };
    const caller = new ShardCaller(edge, time, time, random, LIMITS);
    const limits = { holdMs: LIMITS.deadlineMs, retryEveryMs: 50 };
    gateway = new KvShardGateway({ clock: time, timers: time, caller, host: undefined }, limits, 1);
  });
  afterEach(() => {
    for (const actor of stand.actors) actor.fail(new Error('the test is over'));
  });

  function serve(actor: ShardActor<KvWork>): MemoryBus {
    const bus = network.connect();
    const silence = { clock: stand.time, timers: stand.time, silenceMs: 300 };
    serveKvShard(bus, actor, { maxAnswers: 100, maxBytes: 1_000_000 }, silence);
    return bus;
  }

  function ask(line: string, waiter?: string, isGone?: () => boolean): Told {
    const told: Told = {};
    const startedAtMs = stand.time.monotonicMs();
    const request = {
      database: DATABASE,
      partition: kvPartition(DATABASE, 0),
      mode: 'single' as const,
      commands: [line.split(' ')],
      bytes: line.length,
      ...(waiter === undefined ? {} : { waiter, client: CLIENT }),
      isGone,
    };
    gateway
      .execute(request)
      .then(
        ({ replies }) => {
          told.reply = replies[0] as Reply;
        },
        (error: MillraceError) => {
          told.failure = error;
        },
      )
      .finally(() => {
        told.afterMs = stand.time.monotonicMs() - startedAtMs;
      });
    return told;
  }

  /** Time passes in small steps: a message reaches the other process some turns of the loop later. */
  async function pass(ms: number): Promise<void> {
    const endMs = stand.time.monotonicMs() + ms;
    while (stand.time.monotonicMs() < endMs) await stand.time.advance(Math.min(5, endMs - stand.time.monotonicMs()));
  }

  async function read(actor: ShardActor<KvWork>, line: string): Promise<Reply | undefined> {
    const outcome = stand.send(actor, line);
    await stand.settle();
    await stand.settle();
    return outcome.replies?.[0];
  }

  /** A frozen owner: messages to it are received and not answered. */
  async function standStill(bus: MemoryBus): Promise<void> {
    bus.setConnected(false);
    network.connect().serve(TOPIC, () => new Promise(() => {}));
  }

  /** An owner with answers to commands that wait until a test releases them. */
  function servedThroughATest(actor: ShardActor<KvWork>) {
    const inner = new MemoryNetwork(stand.time);
    serveKvShard(inner.connect(), actor, { maxAnswers: 100, maxBytes: 1_000_000 });
    const way = inner.connect();
    const sent: RemoteCommand[] = [];
    const answers: (() => void)[] = [];
    network.connect().serve(TOPIC, async (payload) => {
      const command = decodeRemoteCommand(payload);
      sent.push(command);
      const answer = await way.request(TOPIC, payload, 60_000);
      if (command.ask !== 'greet') await new Promise<void>((resolve) => answers.push(resolve));
      return answer;
    });
    return { tries: () => sent.filter(({ ask: what }) => what === 'command'), answers };
  }

  it('carries one id through all its tries, and each command has its own id (RQ1)', async () => {
    const actor = await stand.serving();
    const { tries, answers } = servedThroughATest(actor);
    const first = ask('INCR n');
    await pass(3 * LIMITS.tryMs);
    const ids = tries().map(({ commandId }) => commandId);
    expect(ids.length).to.be.within(3, 4);
    expect(new Set(ids).size).to.equal(1);
    const second = ask('INCR n');
    await pass(10);
    expect(tries().at(-1)?.commandId).not.to.equal(ids[0]);
    for (const answer of answers) answer();
    await pass(50);
    expect([first.reply, second.reply]).to.deep.equal([1, 2]);
    expect(await read(actor, 'GET n')).to.equal('2');
  });

  for (const [moment, afterMs] of [
    ['while a later try is open', 2 * LIMITS.tryMs + 10],
    ['while its caller asks for the outcome', LIMITS.deadlineMs + 100],
  ] as const) {
    it(`is answered by the late answer to its first try, ${moment} (RC2)`, async () => {
      const actor = await stand.serving();
      const { tries, answers } = servedThroughATest(actor);
      const told = ask('INCR n');
      await pass(afterMs);
      expect(tries().length).to.be.greaterThan(2);
      expect(told).to.deep.equal({});
      answers[0]?.();
      await pass(10);
      expect(told.reply).to.equal(1);
      for (const answer of answers) answer();
      await pass(50);
      expect(await read(actor, 'GET n')).to.equal('1');
    });
  }

  it('is answered, also when it is the first one', async () => {
    serve(await stand.serving());
    const [first, second] = [ask('INCR n'), ask('INCR n')];
    await pass(100);
    expect([first.reply, second.reply]).to.have.members([1, 2]);
  });

  it('is stopped halfway and undone when its client has left', async () => {
    stand.scriptLimits = { ...stand.scriptLimits, totalMs: 60_000 };
    const actor = await stand.serving();
    serve(actor);
    // Time passes while it works: between two slices come others.
    const { time } = stand;
    const passed = time.monotonicMs.bind(time);
    let workedMs = 0;
    time.monotonicMs = () => {
      workedMs += 0.05;
      return passed() + workedMs;
    };
    let isGone = false;
    const script = ask("EVAL redis.call('set','half','1')while(true)do(function()end)()end 0", undefined, () => isGone);
    await time.advance(50);
    const behind = stand.send(actor, 'EXISTS half');
    await time.advance(100);
    expect([script, behind]).to.deep.equal([{}, {}]);
    isGone = true;
    await eventually(async () => {
      await time.advance(5);
      expect(behind.replies).to.deep.equal([0]);
    });
    expect(script.failure?.code).to.equal('OUTCOME_UNKNOWN');
    expect(script.afterMs).to.be.below(LIMITS.deadlineMs);
  });

  it('is refused by an owner that has ended, until a successor is asked', async () => {
    const actor = await stand.serving();
    serve(actor);
    const drained = actor.drain();
    await pass(10);
    await drained;
    const partition = kvPartition(DATABASE, 0);
    const body = encodeKvRequest({
      database: DATABASE,
      partition,
      mode: 'single',
      commands: [['INCR', 'n']],
      bytes: 6,
    });
    const said = async (what: 'command' | 'settle') => {
      const command = {
        commandId: 'c-1' as CommandId,
        isRetry: false,
        body,
        ask: what,
        before: undefined,
      };
      const answer = edge.request(TOPIC, encodeRemoteCommand(command), 100).then(
        (bytes) => decodeAnswer(bytes).result,
        (error: unknown) => error,
      );
      await pass(10);
      const result = await answer;
      if (!isMillraceError(result)) throw new Error('it answered');
      const { isUnserved, isChecked } = result.details;
      return { code: result.code, isUnserved, isChecked };
    };
    // The outcome of requests in flight at its end is unknown, so the reply does not contain the checked flag.
    const refused = { code: 'SHARD_UNAVAILABLE', isUnserved: undefined, isChecked: undefined };
    expect([await said('command'), await said('settle')]).to.deep.equal([refused, refused]);
    actor.forget();
    await pass(10);
    expect(await said('command')).to.include({ code: 'SHARD_UNAVAILABLE', isUnserved: true });
  });

  it('is not executed by a later successor after its client was told that the outcome is unknown', async () => {
    const bus = serve(await stand.serving());
    ask('SET other 1');
    await pass(50);
    await standStill(bus);
    const told = ask('SET k v');
    await pass(300);
    stand.journal.isOpen = false;
    const second = stand.activate();
    void second.start();
    serve(second);
    await pass(LIMITS.deadlineMs + LIMITS.settleMs);
    expect(told.failure?.code).to.equal('OUTCOME_UNKNOWN');
    const seen = stand.send(second, 'GET k');
    stand.journal.isOpen = true;
    for (const append of stand.journal.held.splice(0)) await append.ack();
    await pass(500);
    expect(seen.replies).to.deep.equal([null]);
    expect(await read(second, 'GET k')).to.equal(null);
  });

  it('is not executed when its time ends while its owner is still loading, and its client is told so (RC3)', async () => {
    stand.journal.isOpen = false;
    const actor = stand.activate({}, { ...ROOMY_HOLD });
    void actor.start();
    serve(actor);
    const told = ask('SET k v');
    await pass(LIMITS.deadlineMs + 100);
    expect(told.failure?.code).to.equal('SHARD_UNAVAILABLE');
    stand.journal.isOpen = true;
    await stand.journal.held.pop()?.ack();
    await pass(500);
    expect(actor.state).to.equal('serving');
    expect(await read(actor, 'GET k')).to.equal(null);
  });

  it('is reported as not executed when its owner handed over and the next owner held it', async () => {
    const first = await stand.serving();
    serve(first);
    ask('SET other 1');
    await pass(50);
    await first.drain();
    stand.journal.isOpen = false;
    const second = stand.activate({ releasedEpoch: first.epoch }, { ...ROOMY_HOLD });
    void second.start();
    serve(second);
    const told = ask('INCR n');
    await pass(LIMITS.deadlineMs + 100);
    expect(told.failure?.code).to.equal('SHARD_UNAVAILABLE');
    stand.journal.isOpen = true;
    for (const append of stand.journal.held.splice(0)) await append.ack();
    await pass(500);
    expect(await read(second, 'GET n')).to.equal(null);
  });

  it('is reported as not executed when a successor confirms that before the settle time is over', async () => {
    const bus = serve(await stand.serving());
    ask('SET other 1');
    await pass(50);
    await standStill(bus);
    const told = ask('SET k v');
    await pass(LIMITS.deadlineMs - 10);
    const second = await stand.serving();
    serve(second);
    await pass(300);
    expect(told.failure?.code).to.be.oneOf(['SHARD_UNAVAILABLE', 'NOT_APPLIED']);
    expect(await read(second, 'GET k')).to.equal(null);
  });

  it('is executed by a successor when the first owner is frozen', async () => {
    const bus = serve(await stand.serving());
    ask('SET n 5');
    await pass(50);
    await standStill(bus);
    const told = ask('INCR n');
    await pass(300);
    serve(await stand.serving());
    await pass(300);
    expect(told.reply).to.equal(6);
  });

  it('that publishes is not executed by a successor when the first owner may have executed it (RC5)', async () => {
    const bus = serve(await stand.serving());
    ask('SET other 1');
    await pass(50);
    await standStill(bus);
    const told = ask('PUBLISH news 1');
    await pass(300);
    serve(await stand.serving());
    await pass(LIMITS.deadlineMs + LIMITS.settleMs);
    expect(told).to.not.have.property('reply');
    expect(told.failure?.code).to.equal('OUTCOME_UNKNOWN');
  });

  it('that publishes is executed by a successor to which the first owner has handed over', async () => {
    const first = await stand.serving();
    const bus = serve(first);
    ask('SET other 1');
    await pass(50);
    await first.drain();
    bus.setConnected(false);
    serve(await stand.serving({ releasedEpoch: first.epoch }));
    const told = ask('PUBLISH news 1');
    await pass(300);
    expect(told.reply).to.equal(0);
  });

  it('that publishes is executed by a successor when the previous owner reports late that it did not execute it', async () => {
    const first = await stand.serving();
    const { answers } = servedThroughATest(first);
    ask('SET other 1');
    await pass(50);
    for (const answer of answers.splice(0)) answer();
    await pass(50);
    await first.drain();
    const told = ask('PUBLISH news 1');
    await pass(20);
    serve(await stand.serving({ releasedEpoch: first.epoch }));
    const other = ask('SET other 2');
    await pass(LIMITS.tryMs);
    for (const answer of answers.splice(0)) answer();
    await pass(LIMITS.deadlineMs);
    expect(other.reply).to.deep.equal(OK);
    expect(told.failure).to.equal(undefined);
    expect(told.reply).to.equal(0);
  });

  it('that publishes is executed by a successor when no owner received it before', async () => {
    const bus = serve(await stand.serving());
    ask('SET other 1');
    await pass(50);
    bus.setConnected(false);
    const told = ask('PUBLISH news 1');
    await pass(300);
    serve(await stand.serving());
    await pass(300);
    expect(told.reply).to.equal(0);
  });

  it('is executed only by the owner that it was addressed to, even if another owner receives it too', async () => {
    const first = await stand.serving();
    const bus = serve(first);
    ask('SET n 5');
    await pass(50);
    const second = await stand.serving();
    serve(second);
    const told = ask('INCR n');
    await pass(100);
    expect(told.reply).to.equal(6);
    expect(await read(second, 'GET n')).to.equal('6');
    bus.setConnected(false);
  });

  it('that was executed is waited for while its entry is being stored', async () => {
    const actor = await stand.serving();
    serve(actor);
    stand.journal.isOpen = false;
    const told = ask('INCR n');
    await pass(LIMITS.deadlineMs + 200);
    expect(told).to.deep.equal({});
    stand.journal.isOpen = true;
    await stand.journal.held.pop()?.ack();
    await pass(50);
    expect(told.reply).to.equal(1);
  });

  it('that was executed is answered when the next stream leader stores the entry, seconds after the hold time', async () => {
    serve(await stand.serving());
    stand.journal.isOpen = false;
    const told = ask('INCR n');
    await pass(LIMITS.deadlineMs + LIMITS.storingMs - 500);
    expect(told).to.deep.equal({});
    stand.journal.isOpen = true;
    await stand.journal.held.pop()?.ack();
    await pass(50);
    expect(told.reply).to.equal(1);
  });

  it('is answered with OUTCOME_UNKNOWN and isBeingStored when the journal does not store its entry within storingMs', async () => {
    serve(await stand.serving());
    stand.journal.isOpen = false;
    const told = ask('INCR n');
    await pass(LIMITS.deadlineMs + LIMITS.storingMs + 260);
    expect(told.failure).to.include({ code: 'OUTCOME_UNKNOWN' });
    expect(told.failure?.details).to.include({ isBeingStored: true });
    expect(told.afterMs).to.be.at.most(LIMITS.deadlineMs + LIMITS.storingMs + 260);
  });

  it('is soon answered with OUTCOME_UNKNOWN when its owner falls silent while storing the entry', async () => {
    const bus = serve(await stand.serving());
    stand.journal.isOpen = false;
    const told = ask('INCR n');
    await pass(LIMITS.deadlineMs + LIMITS.settleMs + 500);
    expect(told).to.deep.equal({});
    bus.setConnected(false);
    await pass(500);
    expect(told.failure).to.include({ code: 'OUTCOME_UNKNOWN' });
  });

  it('that arrives while an append is unanswered is not executed if it writes, and is answered if it reads', async () => {
    const actor = await stand.serving();
    serve(actor);
    stand.journal.isOpen = false;
    const first = ask('INCR n');
    await pass(50);
    stand.journal.held.pop()?.loseRequest();
    await pass(50);
    const written = ask('SET other 1');
    const looked = ask('GET other');
    await pass(LIMITS.deadlineMs + LIMITS.settleMs);
    expect(written.failure).to.include({ code: 'SHARD_UNAVAILABLE' });
    expect(looked.reply).to.equal(null);
    stand.journal.isOpen = true;
    await stand.journal.held.pop()?.ack();
    await pass(300);
    expect(first.reply).to.equal(1);
    expect(await read(actor, 'GET other')).to.equal(null);
    const later = ask('SET other 2');
    await pass(100);
    expect(later.reply).to.deep.equal(OK);
  });

  it('that waits for a key receives no element once its process has been silent for too long', async () => {
    const actor = await stand.serving();
    serve(actor);
    ask('BLPOP list 0', 'c1:1');
    await pass(100);
    edge.setConnected(false);
    await pass(2 * LIMITS.deadlineMs);
    expect(await read(actor, 'RPUSH list a')).to.equal(1);
    expect(await read(actor, 'LLEN list')).to.equal(1);
  });

  it('that waits for a key keeps waiting while its process renews it', async () => {
    const actor = await stand.serving();
    serve(actor);
    const told = ask('BLPOP list 0', 'c1:1');
    await pass(5 * LIMITS.deadlineMs);
    expect(told).to.deep.equal({});
    await read(actor, 'RPUSH list a');
    await pass(50);
    expect(told.reply).to.deep.equal(['list', 'a']);
  });

  it('to an owner of an earlier version is executed without a deadline', async () => {
    const actor = await stand.serving();
    const inner = new MemoryNetwork(stand.time);
    serveKvShard(inner.connect(), actor, { maxAnswers: 100, maxBytes: 1_000_000 });
    const way = inner.connect();
    // An older process neither reads fields after the fourth nor writes them.
    const { decode, encode } = await import('@msgpack/msgpack');
    network.connect().serve(TOPIC, async (payload) => {
      const fields = decode(payload) as unknown[];
      if ((fields[3] as Uint8Array).length === 0) return encode([1, false, 'DEFECT', 'no such request', {}]);
      const answer = decode(await way.request(TOPIC, encode(fields.slice(0, 4)), 1000)) as unknown[];
      return encode(answer.slice(0, answer[1] === true ? 3 : 5));
    });
    const told = ask('SET k v');
    await pass(100);
    expect(told.reply).to.deep.equal(OK);
  });
});

const CLIENT = { face: 'resp', protocol: 2, id: 'c1', address: '127.0.0.1:1', user: 'default' } as const;
/** The time for which a test keeps an owner from serving. */
const ROOMY_HOLD = {
  mailbox: { maxWorks: 100, maxBytes: 1_000_000, quantum: 65_536 },
  turn: { maxCommands: 1000, maxEffectBytes: 256 * 1024, maxMs: 1000 },
  chunkBytes: 512 * 1024,
  holdMs: 60_000,
  commandMemoryMs: 60_000,
};
