/**
 * The words from which requests to each HTTP endpoint are composed: words with a meaning for the endpoint, and words without
 * one.
 */
import type { FuzzRandom } from './fuzz-run.js';
import { type Grammar, oddJson } from './http-bytes.js';
import { oddCommand } from './odd-words.js';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];
const ODD_SEGMENTS = ['', '%', '%2e%2e', '..', '__proto__', 'a,b', '%00', '%ff', 'é', 'a%20b', 'x'.repeat(300)];
const ODD_TEXTS = ['', '0', '1', '-1', '1e3', 'true', 'null', '7d', '* * * * *', '%', 'header[', 'a, b', '\xe9', '\t'];
const ODD_VALUES: readonly unknown[] = [
  ...[null, true, false, '', 'a', 'true', 0, -1, 1, 20, 0.5, 1e21, 2 ** 53, [], {}, '__proto__', '\ud800', '\u0000'],
  ...['x'.repeat(5000), '10.0.0.1', '0.0.0.0/0', 'https://a.example/x', 'owner@example.com', '2030-01-01'],
];
const PLAIN_HEADERS = ['Accept', 'Content-Type', 'Origin', 'X-Forwarded-For', 'Cookie', 'Accept-Encoding', 'Range'];

/** Bytes of a text as UTF-8, a character a byte. */
const utf8 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

function headersOf(random: FuzzRandom, names: readonly string[], values: readonly string[]) {
  const all = [...names, ...names, ...PLAIN_HEADERS];
  return random.list(5, () => [random.pick(all), random.pick(random.chance(0.6) ? values : ODD_TEXTS)] as const);
}

function pathOf(random: FuzzRandom, segments: readonly string[], queries: readonly string[]): string {
  const parts = random.list(5, () => random.pick(random.chance(0.85) ? segments : ODD_SEGMENTS));
  const query = random.chance(0.4) ? `?${random.list(3, () => random.pick(queries)).join('&')}` : '';
  return `/${parts.join('/')}${query}`;
}

export function kv(authorization: string): Grammar {
  const segment = (word: string) => encodeURIComponent(Buffer.from(word, 'latin1').toString('utf8')).slice(0, 500);
  const array = (words: readonly string[]) => utf8(JSON.stringify(words));
  return {
    authorization,
    methods: ['GET', 'POST', 'POST', 'POST', 'PUT', 'HEAD', 'OPTIONS', 'DELETE'],
    target: (random) => {
      const dice = random.below(10);
      if (dice < 5) return random.pick(['/', '/pipeline', '/multi-exec', '/pipeline/', '/multi-exec?x=1']);
      const path = `/${oddCommand(random).map(segment).join('/')}`;
      return random.chance(0.8) ? path : `${path}?${random.pick(['_token=x', 'EX=100', 'NX', 'a=%', '&&', 'EX=1&NX'])}`;
    },
    headers: (random) =>
      headersOf(
        random,
        ['Svc-Encoding', 'Svc-Response-Format', 'Svc-Sync-Token', 'Svc-Telemetry-Sdk'],
        ['base64', 'resp2', 'json', '0-1', 'a'],
      ),
    body: (random) => {
      const dice = random.below(10);
      const one = () => array(oddCommand(random));
      if (dice < 4) return one();
      if (dice < 8) return `[${random.list(6, one).join(',')}]`;
      if (dice < 9) return random.damaged(one());
      return random.bytes(random.below(200));
    },
  };
}

const MESSAGE_HEADERS =
  'Delay Not-Before Retries Retry-Delay Timeout Method Cron Schedule-Id Callback Failure-Callback Callback-Retries ' +
  'Deduplication-Id Content-Based-Deduplication Forward-X Forward-Authorization Label Redact-Fields Flow-Control-Key ' +
  'Flow-Control-Value Callback-Forward-X Header-Forward Queue Content-Type';
const MESSAGE_VALUES =
  '10s 1d 0s 99999999d 1700000000 3 100 -1 GET POST TRACE * https://a.example/cb ftp://a.example true false body ' +
  'header[X] rate=1,period=1m parallelism=0 parallelism=5,rate=2 key 1000*2 pow(2,retried) CRON_TZ=Europe/Berlin application/json';

function messageHeaders(random: FuzzRandom, more: readonly string[] = []) {
  const prefix = random.pick(['Svc-', 'Svc-', 'Acmeq-', 'Acme-']);
  const names = [...MESSAGE_HEADERS.split(' '), ...more].map((name) => prefix + name);
  return headersOf(random, names, MESSAGE_VALUES.split(' '));
}

const DESTINATIONS = [
  'https://a.example/x',
  'http://a.example',
  'https:/a',
  'group',
  'a:b',
  'https://[::1]/',
  '%68ttps://a',
];

export function publishing(authorization: string): Grammar {
  const segments = 'v2 publish enqueue batch schedules messages dlq retry topics queues events keys'.split(' ');
  const fields = ['destination', 'headers', 'body', 'queue', 'url', 'urlGroup', 'endpoints', 'name'];
  return {
    authorization,
    methods: ['POST', 'POST', 'POST', ...METHODS],
    target: (random) => {
      const dice = random.below(10);
      if (dice < 4) return `/v2/publish/${random.pick(DESTINATIONS)}`;
      if (dice < 6) return `/v2/enqueue/${random.pick(['q', '', '%', 'a b'])}/${random.pick(DESTINATIONS)}`;
      if (dice < 8)
        return `/v2/${random.pick(['batch', 'schedules/https://a.example', 'queues', 'topics/t/endpoints'])}`;
      return pathOf(random, segments, ['count=1', 'cursor=x', 'svc-delay=1s', 'svc-cron=*', 'dlqIds=1-1', '&=']);
    },
    headers: messageHeaders,
    body: (random) => {
      if (random.chance(0.3)) return random.bytes(random.below(300));
      const values = [...ODD_VALUES, ...DESTINATIONS, { 'Svc-Delay': '1s' }, { __proto__: 1 }];
      return utf8(oddJson(random, fields, values, 3));
    },
  };
}

export function workflows(authorization: string): Grammar {
  const fields =
    'stepId targetStep concurrent stepName stepType out body workflowRunId workflowUrl headers step url timeout timeoutUrl ' +
    'timeoutBody timeoutHeaders sleepFor sleepUntil callUrl callMethod waitEventId destination';
  const values = [
    ...ODD_VALUES,
    'Run',
    'Initial',
    'Call',
    'Wait',
    'SleepFor',
    'wfr_1',
    'https://app.example/flow',
    'step',
  ];
  const headers =
    'Workflow-Init Workflow-RunId Workflow-CallType Workflow-Url Workflow-Sdk-Version Workflow-Invoke Feature-Set ' +
    'Workflow-Trigger-By-Sdk Forward-Svc-Workflow-Invoke-Count Failure-Callback Workflow-StepId';
  const places = ['batch', 'batch/trigger', 'trigger/https://app.example/flow', 'publish/https://app.example/flow'];
  const runs = [
    'wait/e',
    'notify/e',
    'waiters/e',
    'workflows/runs',
    'workflows/runs/wfr_1',
    'workflows/dlq',
    'workflows/logs',
  ];
  return {
    authorization,
    methods: ['POST', 'POST', 'POST', 'DELETE', 'GET'],
    target: (random) =>
      `/v2/${random.pick([...places, ...places, ...runs])}${random.chance(0.2) ? `/${random.pick(ODD_SEGMENTS)}` : ''}`,
    headers: (random) => messageHeaders(random, headers.split(' ')),
    body: (random) => {
      const step = () => oddJson(random, fields.split(' '), values, 3);
      if (random.chance(0.4)) return utf8(step());
      const item = () =>
        JSON.stringify({
          destination: random.pick(DESTINATIONS),
          headers: Object.fromEntries(messageHeaders(random, headers.split(' '))),
          body: random.chance(0.8) ? step() : random.pick(values),
        });
      return utf8(`[${random.list(4, item).join(',')}]`);
    },
  };
}

const MANAGEMENT_FIELDS =
  'database_name name region primary_region read_regions plan budget platform eviction partitions plan_name auto_upgrade ' +
  'allowed_ips team_name copy_cc team_id member_email member_role readonly type target_account backup_id database_id';

/** @param documented `GET /v2/teams/{id}` @param ids of what there is */
export function management(
  authorization: string,
  documented: readonly string[],
  ids: Readonly<Record<string, string>>,
): Grammar {
  // What would end what the other calls need.
  const usable = documented.filter((name) => !name.startsWith('DELETE'));
  const known = Object.values(ids);
  const values = [...ODD_VALUES, ...known, 'global', 'us-east-1', 'payg', 'free', 'fixed_1mb', 'admin', ['us-west-1']];
  return {
    authorization,
    methods: ['GET', 'POST', 'POST', 'PATCH', 'PUT', 'HEAD', 'OPTIONS'],
    target: (random) => {
      const [, path = ''] = random.pick(usable).split(' ');
      const filled = path.replaceAll(/\{\w+\}/g, () => random.pick(random.chance(0.8) ? known : ODD_SEGMENTS));
      return random.chance(0.85)
        ? filled
        : `${filled}?${random.pick(['period=1h', 'period=x', 'a=%', 'cursor=0', '&'])}`;
    },
    headers: (random) => headersOf(random, ['Sec-Fetch-Site'], ['same-origin', 'none', 'application/json', '*/*']),
    body: (random) => utf8(oddJson(random, MANAGEMENT_FIELDS.split(' '), values)),
  };
}

export function search(authorization: string, index: string): Grammar {
  const commands =
    'upsert-data search fetch delete range reset delete-namespace list-namespaces info rename-namespace query nothing';
  const fields =
    'id content metadata vector query topK filter reranking semanticWeight ids prefix cursor limit includeData ' +
    'includeVectors namespace newNamespace deleteExisting';
  const values = [...ODD_VALUES, "x GLOB 'a*'", 'x = 1 AND', '((', 'after-YQ', { a: 1 }, ['a', 'b'], 1000];
  return {
    authorization,
    methods: ['POST', 'POST', 'POST', 'POST', 'GET', 'DELETE', 'OPTIONS'],
    target: (random) => {
      const name = random.pick(['', '/films', '/films', '/a%20b', '/%', '/%ff', '/a/b', '?all', '/%00']);
      return `/search/${index}/${random.pick(commands.split(' '))}${name}`;
    },
    headers: (random) => headersOf(random, ['Svc-Telemetry-Sdk'], ['a', 'application/json']),
    body: (random) => utf8(oddJson(random, fields.split(' '), values, 3)),
  };
}

export function scraping(authorization: string): Grammar {
  const queries = ['match[]=millrace', 'match[]={__name__=~".*"}', 'match[]={', 'match[]=%', 'x=1', 'match[]=a{b="c"}'];
  return {
    authorization,
    methods: METHODS,
    target: (random) =>
      random.chance(0.7)
        ? `/monitoring/prometheus/federate?${random
            .list(4, () => random.pick(queries))
            .join('&')
            .replaceAll(/["{}<> ]/g, encodeURIComponent)}`
        : pathOf(random, ['prometheus', 'federate', 'monitoring'], ['x=1']),
    headers: (random) => headersOf(random, ['Accept'], ['text/plain', 'application/openmetrics-text']),
    body: (random) => random.bytes(random.below(100)),
  };
}

export function health(authorization: string): Grammar {
  return {
    authorization,
    methods: METHODS,
    target: (random) => pathOf(random, ['livez', 'readyz', 'metrics', ''], ['x=1', 'verbose']),
    headers: (random) => headersOf(random, ['Accept'], ['text/plain', '*/*']),
    body: (random) => random.bytes(random.below(100)),
  };
}
