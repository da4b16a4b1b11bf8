/** Proves RCO1, ROR1–ROR3: several requests of one connection are open at its owner, and only the timing shows it. */
import { expect } from 'chai';
import { KvShardGateway, type KvWork } from '../../../src/actors/kv-shard/index.js';
import type { ShardActor } from '../../../src/actors/runtime/index.js';
import { encodeCommand } from '../../../src/codec/resp/index.js';
import { DEFAULT_RESP_ENDPOINT_LIMITS } from '../../../src/edge/resp/resp-limits.js';
import { type DatabaseId, MillraceError, type PartitionName } from '../../../src/kernel/index.js';
import type { KvRequest } from '../../../src/protocol/index.js';
import { eventually } from '../../support/eventually.js';
import type { HeldAppend } from '../../support/held-journal.js';
import { KvShardStand } from '../../support/kv-shard-stand.js';
import { realTime } from '../../support/real-time.js';
import { type RawClient, RespEndpointHarness } from '../../support/resp-endpoint.js';

const DATABASE = 'db-aaaaaaaaaaaaaaaa' as DatabaseId;

describe('RESP: commands after one with an entry that is being stored', () => {
  let stand: KvShardStand;
  let actor: ShardActor<KvWork>;
  let face: RespEndpointHarness;
  let client: RawClient;
  /** The commands in the order of their requests. */
  let requests: KvRequest[];

  const start = async (limits: Partial<typeof DEFAULT_RESP_ENDPOINT_LIMITS> = {}) => {
    stand = new KvShardStand();
    actor = await stand.serving();
    requests = [];
    const host = { actorOf: () => actor } as never;
    const ports = { clock: realTime, timers: realTime, caller: undefined, host };
    const gateway = new KvShardGateway(ports, { holdMs: 5000, retryEveryMs: 5 }, 1);
    const execute = gateway.execute.bind(gateway);
    gateway.execute = (request) => {
      requests.push(request);
      return execute({ ...request, database: DATABASE, partition: `kv:${DATABASE}:0` as PartitionName });
    };
    face = await new RespEndpointHarness({ gateway, limits: { ...DEFAULT_RESP_ENDPOINT_LIMITS, ...limits } }).start();
    client = await face.client();
    stand.journal.isOpen = false;
  };
  afterEach(() => face.stop());

  /** Sends it in a separate write, and waits until the owner was asked. */
  const handOn = async (...lines: string[]): Promise<void> => {
    const asked = requests.length;
    send(...lines);
    await eventually(() => expect(requests.length).to.be.above(asked));
  };
  const send = (...lines: string[]) => client.send(lines.map((line) => encodeCommand(line.split(' '))).join(''));
  const answers = async (count: number): Promise<string[]> => {
    const read: string[] = [];
    while (read.length < count) read.push((await client.next()).replaceAll('\r\n', ' ').trim());
    return read;
  };
  const nextAppend = async (): Promise<HeldAppend> => {
    await eventually(() => expect(stand.journal.held).to.have.length(1));
    return stand.journal.held.shift() as HeldAppend;
  };

  it('run in their order, see the earlier ones, and share the next entry', async () => {
    await start();
    await handOn('SET n 1');
    const first = await nextAppend();
    await handOn('INCR n');
    await handOn('GET n', 'INCR n');
    await handOn('EVAL return{redis.call("incr",KEYS[1])} 1 n');
    const early: string[] = [];
    void answers(1).then((read) => early.push(...read));
    await stand.settle();
    expect(early).to.deep.equal([]);
    expect(stand.journal.held).to.have.length(0);
    await first.ack();
    const second = await nextAppend();
    await eventually(() => expect(early).to.deep.equal(['+OK']));
    await second.ack();
    expect(await answers(4)).to.deep.equal([':2', '$1 2', ':3', '*1 :4']);
    expect(stand.journal.held).to.have.length(0);
  });

  it('are answered in their order where no owner is asked', async () => {
    await start();
    await handOn('SET n 1');
    const first = await nextAppend();
    send('PING');
    send('NOSUCH');
    await handOn('ECHO here', 'GET n');
    await first.ack();
    const read = await answers(5);
    expect(read.map((answer) => answer.slice(0, 12))).to.deep.equal([
      '+OK',
      '+PONG',
      '-ERR unknown',
      '$4 here',
      '$1 1',
    ]);
  });

  it('wait until all earlier ones are answered when they concern the connection or may block', async () => {
    await start();
    await handOn('RPUSH list a');
    const first = await nextAppend();
    send('CLIENT SETNAME me', 'CLIENT GETNAME', 'BLPOP list 0', 'MULTI', 'SET n 1', 'INCR n', 'EXEC', 'GET n');
    await stand.settle();
    expect(requests).to.have.length(1);
    stand.journal.isOpen = true;
    await first.ack();
    expect(await answers(9)).to.deep.equal([
      ':1',
      '+OK',
      '$2 me',
      '*2 $4 list $1 a',
      '+OK',
      '+QUEUED',
      '+QUEUED',
      '*2 +OK :2',
      '$1 2',
    ]);
  });

  it('wait unparsed above the maximum of open requests', async () => {
    await start();
    const { maxRequestsUnderWay } = DEFAULT_RESP_ENDPOINT_LIMITS;
    await handOn('SET n 0');
    const first = await nextAppend();
    for (let i = 1; i < maxRequestsUnderWay; i += 1) await handOn('INCR n');
    send('INCR n');
    const other = await face.client();
    expect(await other.call('PING')).to.equal('+PONG\r\n');
    expect(requests).to.have.length(maxRequestsUnderWay);
    stand.journal.isOpen = true;
    await first.ack();
    expect((await answers(maxRequestsUnderWay + 1)).at(-1)).to.equal(`:${maxRequestsUnderWay}`);
    expect(requests).to.have.length(maxRequestsUnderWay + 1);
  });

  it('run after the rest of a partial answer', async () => {
    await start({ answerPortionBehindBytes: 10 });
    await handOn('SET text twenty-two-letters-here');
    const first = await nextAppend();
    await handOn('GET text', 'GET text', 'INCR n');
    await handOn('INCR n');
    await handOn('GET n', 'INCR n');
    stand.journal.isOpen = true;
    await first.ack();
    const text = '$23 twenty-two-letters-here';
    expect(await answers(7)).to.deep.equal(['+OK', text, text, ':1', ':2', '$1 2', ':3']);
  });

  it('run after it when it is tried again, because its owner was fenced', async () => {
    await start();
    await handOn('SET n 1');
    const first = await nextAppend();
    await handOn('INCR n');
    await handOn('INCR n');
    await handOn('GET n');
    const fenced = actor.ended;
    stand.journal.isOpen = true;
    // A successor claims the shard, and the entry comes too late.
    actor = await stand.serving();
    await first.ack();
    expect((await fenced).code).to.equal('FENCED');
    expect(await answers(4)).to.deep.equal(['+OK', ':2', ':3', '$1 3']);
    expect(await client.call('INCR', 'n')).to.equal(':4\r\n');
  });

  it('run after it when its outcome is unknown, and it is answered as unknown', async () => {
    await start();
    await handOn('INCR n');
    const first = await nextAppend();
    await handOn('INCR n');
    await handOn('INCR n');
    stand.journal.isOpen = true;
    await first.loseAck();
    actor.fail(new MillraceError('DEFECT', 'the owner has ended'));
    actor = await stand.serving();
    const [unknown, ...others] = await answers(3);
    expect(unknown).to.match(/^-.*unknown/i);
    expect(others).to.deep.equal([':2', ':3']);
  });

  it('are sent one at a time for a client with tracking', async () => {
    await start();
    client = await face.client(3);
    await client.call('CLIENT', 'TRACKING', 'ON');
    await handOn('SET n 1');
    const first = await nextAppend();
    const asked = requests.length;
    send('INCR n');
    const other = await face.client();
    expect(await other.call('PING')).to.equal('+PONG\r\n');
    expect(requests).to.have.length(asked);
    stand.journal.isOpen = true;
    await first.ack();
    expect(await answers(2)).to.deep.equal(['+OK', ':2']);
  });
});
