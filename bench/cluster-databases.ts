/**
 * The cost of a command if concurrent commands are for one database, and if they are for many: the same load on one process,
 * 64 requests at a time, to the keys of one database and to one key of each of 2,000 in turn. The one database is that of
 * the first start: its plan has no such limit of commands per second.
 */
import { atMost, type Bench, type Figure, median } from './figures.js';
import { Millrace, TOKEN } from './millrace.js';
import { ranOfThreadsMs } from './processor-time.js';
import { ranMs } from './redis.js';
import { sized } from './sizes.js';
import { isWrkMissing, wrk } from './wrk.js';

const DATABASES = sized(2000, 100);
const ROUNDS = sized(5, 1);
const SECONDS = sized(3, 1);
const CONNECTIONS = 64;
const MADE_AT_ONCE = 16;
/** As many shards as a cluster has by default. */
const ENV = { MILLRACE_KV_SHARDS: '16', MILLRACE_SECRET_MIN_CHARACTERS: '1' };
/** The smallest plan of an account that has room for them. */
const PLAN = 'msgq_fixed_10m';
const VERBS = {
  GET: 'wrk.format("GET", path("get"), headers)',
  SET: 'wrk.format("POST", path("set"), headers, value)',
};

/** Processor time of a request, in microseconds. */
interface Cost {
  readonly main: number;
  readonly all: number;
}

export const clusterDatabases: Bench = {
  name: 'cluster-databases',
  summary: `processor time of a command, to one database and to ${DATABASES} in turn`,
  async run(progress) {
    if (isWrkMissing()) return { figures: [], skipped: ['cluster-databases: wrk is not installed'] };
    const millrace = await Millrace.create();
    try {
      await millrace.start({ isWatched: false, env: ENV });
      const tokens = (await makeDatabases(millrace, DATABASES)).map(({ token }) => token);
      progress(`${tokens.length} databases`);
      return { figures: figuresOf(await measure(millrace, tokens, progress)), skipped: [] };
    } finally {
      await millrace.dispose();
    }
  },
};

export interface MadeDatabase {
  readonly id: string;
  readonly token: string;
  readonly password: string;
}

export async function makeDatabases(millrace: Millrace, count: number): Promise<readonly MadeDatabase[]> {
  const [account] = (await millrace.manage('GET', '/v2/msgq/users')) as { id: string }[];
  await millrace.manage('POST', `/v2/msgq/set-plan/${account?.id}`, { plan_name: PLAN });
  const databases: MadeDatabase[] = [];
  let begun = 0;
  const maker = async () => {
    while (begun < count) {
      begun += 1;
      const body = { database_name: `bench-${begun}`, primary_region: 'eu-west-1' };
      const made = (await millrace.manage('POST', '/v2/kv/database', body)) as Record<string, string>;
      const { database_id: id = '', rest_token: token = '', password = '' } = made;
      databases.push({ id, token, password });
    }
  };
  await Promise.all(Array.from({ length: MADE_AT_ONCE }, maker));
  return databases;
}

/** Lua for so many requests, each for another key, to the databases of the tokens in turn: by request, or by thread. */
export function requestsOver(
  tokens: readonly string[],
  format: string,
  count: number,
  by: 'request' | 'thread' = 'request',
): string {
  const number = by === 'request' ? 'i' : 'number';
  return `local tokens = { ${tokens.map((token) => `"${token}"`).join(',')} }
local value = string.rep("v", 64)
local all = {}
for i = 1, ${count} do
  local function path(verb) return string.format("/%s/key:%012d", verb, i) end
  local headers = { ["Authorization"] = "Bearer " .. tokens[(${number} - 1) % #tokens + 1] }
  all[i] = ${format}
end
return all`;
}

type Costs = ReadonlyMap<string, readonly Cost[]>;

async function measure(
  millrace: Millrace,
  tokens: readonly string[],
  progress: (line: string) => void,
): Promise<Costs> {
  const { url, pid } = millrace;
  const costs = new Map<string, Cost[]>();
  // The first round warms up and gives each database its keys; it does not count.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const line: string[] = [];
    for (const [verb, format] of Object.entries(VERBS)) {
      for (const [name, some] of [
        [`${verb}, one database`, [TOKEN]],
        [`${verb}, ${DATABASES} databases`, tokens],
      ] as const) {
        const before = { main: await ranMs(pid), all: await ranOfThreadsMs(pid) };
        const load = await wrk({
          url,
          requests: requestsOver(some, format, DATABASES),
          connections: CONNECTIONS,
          seconds: SECONDS,
        });
        if (load.errors > 0) throw new Error(`${name}: ${load.errors} errors`);
        const perRequest = 1000 / (load.requestsPerSecond * SECONDS);
        const cost = {
          main: ((await ranMs(pid)) - before.main) * perRequest,
          all: ((await ranOfThreadsMs(pid)) - before.all) * perRequest,
        };
        if (round > 0) costs.set(name, [...(costs.get(name) ?? []), cost]);
        line.push(`${name} ${Math.round(load.requestsPerSecond)}/s at ${cost.main.toFixed(0)} µs`);
      }
    }
    progress(`${round === 0 ? 'warm-up' : `round ${round} of ${ROUNDS}`}: ${line.join(', ')}`);
  }
  return costs;
}

function figuresOf(costs: Costs): readonly Figure[] {
  const of = (name: string, field: keyof Cost) => median((costs.get(name) ?? []).map((cost) => cost[field]));
  return Object.keys(VERBS).flatMap((verb): Figure[] => {
    const [one, many] = [`${verb}, one database`, `${verb}, ${DATABASES} databases`];
    return [
      {
        name: `${verb}, ${DATABASES} databases / one, processor time`,
        value: of(many, 'all') / of(one, 'all'),
        unit: 'ratio',
        target: atMost(1.3),
      },
      ...[one, many].flatMap((name): Figure[] => [
        { name: `  ${name}, all threads`, value: of(name, 'all'), unit: 'µs' },
        { name: `  ${name}, main thread`, value: of(name, 'main'), unit: 'µs' },
      ]),
    ];
  });
}
