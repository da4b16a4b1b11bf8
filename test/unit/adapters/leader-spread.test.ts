/** Proves LSP1–LSP4. */
import { expect } from 'chai';
import { Names } from '../../../src/adapters/nats/index.js';
import { LeaderSpread, type LedStream, nextMove } from '../../../src/adapters/nats/leader-spread.js';
import { declaredKeys } from '../../../src/adapters/nats/stream-list.js';
import { ManualTime } from '../../support/memory/index.js';
import { ScriptedNats } from '../../support/scripted-nats.js';
import { silentLog } from '../../support/silent-log.js';

const SERVERS = ['one', 'two', 'three'];

const led = (key: string, leader: string, others = SERVERS.filter((name) => name !== leader)): LedStream => ({
  key,
  leader,
  others,
});

/** Moves leaders until no move is left. */
function spread(streams: readonly LedStream[]): LedStream[] {
  const moved = [...streams];
  for (let moves = 0; moves < 100; moves += 1) {
    const move = nextMove(moved);
    if (move === undefined) return moved;
    moved[moved.findIndex(({ key }) => key === move.key)] = led(move.key, move.to);
  }
  throw new Error('it never ends');
}

describe('stream leaders', () => {
  const journals = ['KV_0', 'KV_1', 'KV_2', 'KV_3', 'QUEUE_0', 'INTAKE_0', 'METER'];

  it('are spread evenly from any start, with the leases and the control stream on different servers (LSP2, LSP3)', () => {
    for (const start of SERVERS) {
      const spreadOut = spread([...journals, 'leases', 'CONTROL'].map((key) => led(key, start)));
      const counts = SERVERS.map((name) => spreadOut.filter(({ leader }) => leader === name).length);
      expect(counts).to.deep.equal([3, 3, 3]);
      const leaderOf = (key: string) => spreadOut.find((stream) => stream.key === key)?.leader;
      expect(leaderOf('leases')).to.not.equal(leaderOf('CONTROL'));
    }
  });

  it('stay where they are once they are spread (LSP3)', () => {
    expect(
      nextMove([led('leases', 'one'), led('CONTROL', 'two'), led('KV_0', 'three'), led('KV_1', 'three')]),
    ).to.equal(undefined);
  });

  it('do not move to a server that is down or lags (LSP1)', () => {
    const alone = journals.map((key) => led(key, 'one', []));
    expect(nextMove([...alone, led('leases', 'one', []), led('CONTROL', 'one', [])])).to.equal(undefined);
    expect(nextMove([...alone, led('KV_9', 'one', ['three'])])).to.deep.equal({ key: 'KV_9', to: 'three' });
  });

  describe('stream leaders of an installation', () => {
    const layout = { kvShards: 4, queueShards: 2, replicas: 3 };
    const names = new Names('');
    let time: ManualTime;
    let nats: ScriptedNats;
    let leaders: Map<string, string>;
    let spreading: LeaderSpread;

    beforeEach(() => {
      time = new ManualTime();
      nats = new ScriptedNats();
      leaders = new Map([...declaredKeys({ names, layout }).keys()].map((name) => [name, 'one']));
      nats.onSent = ({ subject, text, answer }) => {
        if (subject.endsWith('STREAM.LIST')) {
          const streams = [...leaders].map(([name, leader]) => {
            const replicas = SERVERS.filter((server) => server !== leader).map((server) => ({
              name: server,
              current: true,
            }));
            return { config: { name }, cluster: { leader, replicas } };
          });
          const type = 'io.nats.jetstream.api.v1.stream_list_response';
          setImmediate(() => answer({ type, total: streams.length, streams }));
        } else {
          const { placement } = JSON.parse(text) as { placement: { preferred: string } };
          leaders.set(subject.split('.').at(-1) as string, placement.preferred);
          setImmediate(() => answer({ success: true }));
        }
      };
      const connections = { control: nats.link, serverVersions: () => ['2.15.0'] };
      const ports = { clock: time, timers: time, log: silentLog };
      spreading = new LeaderSpread({ connections, names, layout } as never, ports, () => true);
    });
    afterEach(() => spreading.stop());

    const counts = () => SERVERS.map((name) => [...leaders.values()].filter((leader) => leader === name).length);

    it('are spread within a minute, by the process in charge', async () => {
      for (let second = 0; second < 60; second += 1) {
        await time.advance(1000);
        for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      }
      expect(Math.max(...counts()) - Math.min(...counts())).to.be.below(2);
    });

    it('stay where they are while a stream has no leader, because its servers are electing one (LSP4)', async () => {
      leaders.delete([...leaders.keys()].at(-1) as string);
      expect(await spreading.look()).to.equal(false);
      expect(nats.to(/STEPDOWN/)).to.deep.equal([]);
    });

    it('are not moved a second time within a minute when their server hands them back (LSP4)', async () => {
      const moved: string[] = [];
      for (let looks = 0; looks < 40; looks += 1) {
        if (!(await spreading.look())) break;
        moved.push(nats.to(/STEPDOWN/).at(-1)?.subject as string);
        for (const name of leaders.keys()) leaders.set(name, 'one');
      }
      expect(new Set(moved).size).to.equal(moved.length);
      expect(moved.length).to.be.above(2);
    });
  });
});
