/**
 * How long the event loop is blocked, one row for each kind of large request: all other requests wait that long.
 * `make bench BENCH=stalls`; `STALLS="RPUSH|JSON"` takes the rows with names that match.
 */
import { request } from 'undici';
import { KEYS, load } from './data-set.js';
import { atMost, type Bench, type Figure } from './figures.js';
import { Millrace, PASSWORD, TOKEN } from './millrace.js';
import { ownFlags } from './queue-load.js';
import { COLLECTIONS, LARGE_VALUES, MANY_KEYS } from './stalls-commands.js';
import { LargeLink } from './stalls-link.js';
import { MESSAGES_AND_RUNS, withLargeMessages } from './stalls-queue.js';

const OWN_WORK_MS = 10;
const REPEATS = 3;
/** A row may be the first to run its code; compilation on its first run is not part of the measurement. */
const ONLY = process.env.STALLS === undefined ? undefined : new RegExp(process.env.STALLS);

export type StallStand = Stand;

class Stand {
  private constructor(
    readonly millrace: Millrace,
    public link: LargeLink,
  ) {}

  static async of(millrace: Millrace): Promise<Stand> {
    return new Stand(millrace, await LargeLink.open(millrace.respPort, PASSWORD));
  }

  /** Restarts the process with a kill -9; the time of loading the program is not counted. */
  async restart(): Promise<void> {
    this.link.close();
    await this.millrace.stop('SIGKILL');
    await this.millrace.start({ env: ENV, nodeFlags: ownFlags() });
    await this.millrace.probe();
    this.link = await LargeLink.open(this.millrace.respPort, PASSWORD);
  }

  rest(path: string, body?: string | Buffer): Promise<void> {
    return rest(this.millrace, path, body);
  }
}

export interface Stall {
  readonly name: string;
  /** Runs before each time, and is not measured. */
  before?(stand: StallStand, progress: (line: string) => void): Promise<unknown>;
  work(stand: StallStand): Promise<unknown>;
  after?(stand: StallStand): Promise<unknown>;
  readonly repeats?: number;
}

export const stalls: Bench = {
  name: 'stalls',
  summary: 'the loop while one request is about very much',
  async run(progress) {
    const figures: Figure[] = [];
    for (const rows of [MANY_KEYS, COLLECTIONS, LARGE_VALUES, MESSAGES_AND_RUNS]) {
      const wanted = rows.filter(({ name }) => ONLY?.test(name) ?? true);
      if (wanted.length === 0) continue;
      const millrace = await Millrace.create();
      try {
        await millrace.start({ env: ENV, nodeFlags: ownFlags() });
        if (rows === MANY_KEYS) await load(millrace, KEYS, progress);
        const stand = await Stand.of(millrace);
        if (rows === MESSAGES_AND_RUNS) await withLargeMessages(stand);
        for (const row of wanted) figures.push(await longest(stand, row, progress));
        stand.link.close();
      } finally {
        await millrace.dispose();
      }
    }
    return { figures, skipped: [] };
  },
};

/** Replies of everything are larger than the documented size of an answer. */
const ENV = { MILLRACE_FSYNC: 'interval', MILLRACE_MAX_COMMAND_BYTES: '64MiB', MILLRACE_MAX_ANSWER_BYTES: '256MiB' };

async function longest(stand: StallStand, row: Stall, progress: (line: string) => void): Promise<Figure> {
  const { millrace } = stand;
  let own = Number.POSITIVE_INFINITY;
  let collected = 0;
  let took = Number.POSITIVE_INFINITY;
  for (let i = 0; i < (row.repeats ?? REPEATS); i += 1) {
    await row.before?.(stand, progress);
    await millrace.probe();
    const startedAtMs = performance.now();
    await row.work(stand).catch((error: unknown) => progress(`${row.name}: ${String(error).slice(0, 160)}`));
    took = Math.min(took, performance.now() - startedAtMs);
    const answer = await millrace.probe();
    if (answer.ownWorkMaxMs < own) {
      own = answer.ownWorkMaxMs;
      collected = answer.collectionMaxMs;
    }
    await row.after?.(stand);
  }
  const note = `collections ${collected.toFixed(0)} ms, answered in ${took.toFixed(0)} ms`;
  progress(`${row.name}: the loop was held ${own.toFixed(1)} ms, ${note}`);
  return { name: row.name, value: own, unit: 'ms', target: atMost(OWN_WORK_MS), note };
}

async function rest(millrace: Millrace, path: string, body?: string | Buffer): Promise<void> {
  const answered = await request(`${millrace.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${TOKEN}` },
    ...(body === undefined ? {} : { body }),
  });
  const bytes = Buffer.from(await answered.body.arrayBuffer());
  if (answered.statusCode !== 200) throw new Error(`${path}: ${answered.statusCode} ${bytes.toString('utf8', 0, 200)}`);
}
