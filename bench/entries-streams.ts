/**
 * The bound of a nats-server that syncs each write: entries and bytes a second over 1, 16 and 32 streams with one entry in
 * flight each, as shards have, and the same 32 streams on two nats-servers of this machine, with directories of their own
 * on one disk. The one client of all streams is the main thread of the bench, so its processor time is noted too.
 */
import { EntryServer, type EntryStream } from './entry-stream.js';
import { type Bench, type Figure, median } from './figures.js';
import { ranOfThreadsMs, serversOf } from './processor-time.js';
import { sized } from './sizes.js';

const ROUNDS = sized(3, 1);
const ROUND_MS = sized(1000, 200);
/** One SET, a turn of 25, and a batch of large values. */
const SIZES = [100, 2_500, 100_000];
const STREAMS = [1, 16, 32];
const MOST = Math.max(...STREAMS);
const MB = 1_000_000;

/** In one round. */
interface Stored {
  readonly perSecond: number;
  /** Cores that were busy with it. */
  readonly nats: number;
  readonly client: number;
}

interface Load {
  readonly name: string;
  readonly streams: readonly EntryStream[];
}

export const entriesStreams: Bench = {
  name: 'entries-streams',
  summary: `the bound of a nats-server with sync always over ${STREAMS.join(', ')} streams, and with a second nats-server`,
  async run(progress) {
    const servers = [await EntryServer.start(), await EntryServer.start()];
    try {
      const made = await Promise.all(
        servers.map((server) => Promise.all(Array.from({ length: MOST }, (_, at) => server.stream(`entries-${at}`)))),
      );
      const [first = [], second = []] = made;
      const loads: readonly Load[] = [
        ...STREAMS.map((count) => ({ name: nameOf(count), streams: first.slice(0, count) })),
        { name: `${nameOf(MOST)} of two servers`, streams: [...first.slice(MOST / 2), ...second.slice(MOST / 2)] },
      ];
      const figures: Figure[] = [];
      for (const bytes of SIZES) figures.push(...(await figuresOf(bytes, { servers, loads, progress })));
      return { figures, skipped: [] };
    } finally {
      await Promise.all(servers.map((server) => server.stop()));
    }
  },
};

interface Stand {
  readonly servers: readonly EntryServer[];
  readonly loads: readonly Load[];
  readonly progress: (line: string) => void;
}

async function figuresOf(bytes: number, { servers, loads, progress }: Stand): Promise<Figure[]> {
  const rounds = new Map<string, Stored[]>(loads.map(({ name }) => [name, []]));
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const { name, streams } of loads) {
      const stored = await store(streams, new Uint8Array(bytes));
      progress(`entries of ${bytes} bytes, ${name}: ${stored.perSecond.toFixed(0)} a second`);
      // The first round warms up.
      if (round > 0) rounds.get(name)?.push(stored);
      const names = new Set(streams.map((stream) => stream.name));
      await Promise.all(servers.flatMap((server) => [...names].map((each) => server.purge(each))));
    }
  }
  const of = (name: string, field: keyof Stored) => median((rounds.get(name) ?? []).map((stored) => stored[field]));
  const [one, two] = [nameOf(MOST), `${nameOf(MOST)} of two servers`];
  return [
    ...loads.flatMap(({ name }): Figure[] => {
      const value = of(name, 'perSecond');
      const note = `busy cores: nats-server ${of(name, 'nats').toFixed(2)}, client ${of(name, 'client').toFixed(2)}`;
      return [
        { name: `entries of ${bytes} bytes, ${name}`, value, unit: 'entries/s', note },
        { name: '  bytes', value: (value * bytes) / MB, unit: 'MB/s' },
      ];
    }),
    {
      name: `entries of ${bytes} bytes, two servers / one`,
      value: of(two, 'perSecond') / of(one, 'perSecond'),
      unit: 'ratio',
      note: one,
    },
  ];
}

async function store(streams: readonly EntryStream[], payload: Uint8Array): Promise<Stored> {
  const servers = await serversOf(process.pid);
  const ran = async () => ({ nats: await ranOfThreadsMs(...servers), client: process.cpuUsage() });
  const [beganMs, before] = [performance.now(), await ran()];
  const rates = await Promise.all(streams.map((stream) => stream.rate(payload, { inFlight: 1, forMs: ROUND_MS })));
  const { user, system } = process.cpuUsage(before.client);
  const [passedMs, after] = [performance.now() - beganMs, await ran()];
  return {
    perSecond: rates.reduce((sum, rate) => sum + rate, 0),
    nats: (after.nats - before.nats) / passedMs,
    client: (user + system) / 1000 / passedMs,
  };
}

function nameOf(streams: number): string {
  return streams === 1 ? 'one stream' : `${streams} streams`;
}
