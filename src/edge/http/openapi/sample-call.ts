/** A valid call of an operation, from its declaration: the source of the examples in all languages. */
import type { Described } from '../route.js';
import type { SampleCall, SampleClient } from './code-samples.js';
import { type ApiOperation, type ApiParameter, JSON_TYPE } from './parts.js';

/** Values of parameters by name. A declaration has its own values where these do not fit. */
const VALUES: Readonly<Record<string, string>> = {
  command: 'get',
  arguments: 'greeting',
  channel: 'news',
  pattern: 'news*',
  message: 'hello',
  destination: 'https://example.com/hooks',
  queue: 'mail',
  name: 'mail',
  key: 'shop',
  event: 'paid-7',
  user: 'me',
  run: 'wfr_order-7',
  index: 'films',
  at: '2026-11-29T10:00:00Z',
  from: '2026-11-29T10:00:00Z',
  to: '2026-11-29T11:00:00Z',
  all: '',
};
/** Ids by the beginning of the path; others have the form of a UUID. */
const IDS: readonly (readonly [beginning: string, id: string])[] = [
  ['/v2/messages/', 'msg_26hZCxZCuWyyTWPmSVBrNC'],
  ['/v2/schedules/', 'every-minute'],
  ['/v2/workflows/runs/', 'wfr_order-7'],
  ['/v2/admin/cluster/processes/', 'node-02fe0f29ee30f0d3'],
  ['/v2/admin/cluster/shards/', 'QUEUE_0'],
  ['/v2/admin/read-models/', 'messages'],
];
const SOME_ID = '00000000-0000-8000-8000-000000000000';
const STREAM_TYPE = 'text/event-stream';
/** Of a body that is any bytes. */
const SOME_TEXT = 'hello';

export interface SampledOperation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly ApiParameter[];
  readonly requestBody?: ApiOperation['requestBody'];
}

export function sampleCall(client: SampleClient, route: Described, operation: SampledOperation): SampleCall {
  const { method, path, parameters, requestBody } = operation;
  const { sample = {}, permission, answer } = route;
  const valueFor = (name: string) => sample.path?.[name] ?? idIn(path, name) ?? VALUES[name] ?? SOME_ID;
  const needed = parameters.filter((one) => one.in === 'query' && one.required);
  const query = { ...Object.fromEntries(needed.map(({ name }) => [name, valueFor(name)])), ...sample.query };
  const isStream = answer.kind === 'other' && answer.type === STREAM_TYPE;
  const { token, login, url } = client;
  const isOpen = permission === 'open';
  const body = bodyOf(requestBody);
  return {
    client: { url, ...(!isOpen && token !== undefined && { token }), ...(!isOpen && login !== undefined && { login }) },
    method: method.toUpperCase(),
    target: path.replaceAll(/\{(\w+)\}/g, (_, name: string) => valueFor(name)) + queryText(query),
    headers: { ...(isStream && { Accept: STREAM_TYPE }), ...sample.headers },
    ...(body !== undefined && { body }),
    isStream,
    isJson: answer.kind !== 'other',
  };
}

function idIn(path: string, name: string): string | undefined {
  return name === 'id' ? IDS.find(([beginning]) => path.startsWith(beginning))?.[1] : undefined;
}

/** The example as JSON; other bodies as a text. */
function bodyOf(requestBody: ApiOperation['requestBody']): SampleCall['body'] {
  const json = requestBody?.content[JSON_TYPE];
  if (json !== undefined) return { type: JSON_TYPE, value: json.example };
  return requestBody === undefined ? undefined : { type: 'text/plain', value: SOME_TEXT };
}

function queryText(query: Readonly<Record<string, string>>): string {
  const parts = Object.entries(query).map(([name, value]) =>
    value === '' ? name : `${name}=${encodeURIComponent(value).replaceAll('%20', '+')}`,
  );
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}
