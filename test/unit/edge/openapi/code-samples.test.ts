/** Every operation of the document is described, and has examples that make a valid call of it. */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import { Language, Parser } from 'web-tree-sitter';
import { openApiDocument } from '../../../../src/edge/http/openapi/document.js';
import { managementArea } from '../../../../src/edge/management/openapi-route.js';
import { MANAGEMENT_ROUTES } from '../../../../src/edge/management/routes/index.js';
import { AREAS } from '../../../../src/edge/openapi/index.js';

interface Operation {
  readonly summary: string;
  readonly description: string;
  readonly security: readonly object[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> };
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly description?: string }>>;
  readonly 'x-calledAt'?: string;
  readonly 'x-codeSamples': readonly { readonly lang: string; readonly label: string; readonly source: string }[];
}
interface Called {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

const URLS = { kv: 'kv.example', queue: 'queue.example' };
const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'];
const ADDRESS = 'http://millrace.example';
/** The variables that `millrace env` prints, and those that a reader sets. */
const ENV = {
  MILLRACE_KV_URL: ADDRESS,
  MILLRACE_QUEUE_URL: ADDRESS,
  MILLRACE_MGMT_URL: ADDRESS,
  MILLRACE_METRICS_URL: ADDRESS,
  MILLRACE_KV_TOKEN: 'a-token',
  MILLRACE_QUEUE_TOKEN: 'a-token',
  MILLRACE_METRICS_TOKEN: 'a-token',
  INDEX_TOKEN: 'a-token',
  MONITORING_TOKEN: 'a-token',
  MILLRACE_MGMT_EMAIL: 'ada@example.com',
  MILLRACE_MGMT_KEY: 'a-key',
};
const require = createRequire(import.meta.url);
const areas = [...AREAS, managementArea(MANAGEMENT_ROUTES)];
const document = openApiDocument(areas, URLS, '1.2.3', ['sh', 'js', 'python', 'go']);
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  METHODS.flatMap((method) => {
    const operation = (item as Readonly<Record<string, unknown>>)[method] as Operation | undefined;
    return operation === undefined ? [] : [{ name: `${method.toUpperCase()} ${path}`, method, path, operation }];
  }),
);
const sourcesOf = (lang: string) =>
  operations.map(({ operation }) => operation['x-codeSamples'].find((each) => each.lang === lang)?.source ?? '');

describe('each operation of the OpenAPI document', () => {
  it('has a description with the credentials that it needs', () => {
    const without = operations.filter(({ operation }) => !/\bNeeds? /.test(operation.description));
    expect(without.map(({ name }) => name)).to.deep.equal([]);
  });

  it('has the meaning of each of its errors', () => {
    for (const { name, operation } of operations) {
      const failures = Object.entries(operation.responses).filter(([status]) => !status.startsWith('2'));
      expect(failures, name).not.to.be.empty;
      for (const [status, { $ref, description }] of failures) {
        const shared = document.components.responses[$ref?.split('/').at(-1) ?? ''];
        expect(description ?? shared?.description, `${name} ${status}`).to.match(/^[A-Z2].*\.$/);
      }
    }
  });

  it('has an example for curl and for JavaScript in the document', () => {
    const served = openApiDocument(areas, URLS, '1.2.3');
    for (const item of Object.values(served.paths)) {
      for (const method of METHODS) {
        const operation = (item as Readonly<Record<string, unknown>>)[method] as Operation | undefined;
        const labels = operation?.['x-codeSamples'].map(({ label }) => label);
        expect(labels ?? ['curl', 'JavaScript']).to.deep.equal(['curl', 'JavaScript']);
      }
    }
  });

  it('is called by its example for JavaScript: method, path, credentials and body', async () => {
    for (const [at, source] of sourcesOf('js').entries()) await judge(at, await calledByScript(source));
  });

  it('is called by its example for curl', async () => {
    const calls = calledByShell(sourcesOf('sh'));
    expect(calls).to.have.length(operations.length);
    for (const [at, call] of calls.entries()) await judge(at, call);
  });

  it('has an example for Python that compiles', function () {
    const program = 'import json, sys\nfor source in json.load(sys.stdin): compile(source, "example", "exec")';
    const { status, error, stderr } = spawnSync('python3', ['-c', program], {
      input: JSON.stringify(sourcesOf('python')),
    });
    if (error !== undefined) this.skip();
    expect(status, String(stderr)).to.equal(0);
  });

  it('has an example for Go that is valid', async () => {
    await Parser.init();
    const parser = new Parser().setLanguage(await Language.load(require.resolve('tree-sitter-go/tree-sitter-go.wasm')));
    const wrong = sourcesOf('go').filter((source) => parser.parse(source)?.rootNode.hasError !== false);
    expect(wrong).to.deep.equal([]);
  });

  it('shows the creation of a schedule as it is called: with a destination', () => {
    const { operation } = operations.find(({ name }) => name === 'POST /v2/schedules/{id}') ?? {};
    expect(operation?.['x-calledAt']).to.equal('/v2/schedules/{destination}');
    expect(operation?.['x-codeSamples'][0]?.source).to.include('/v2/schedules/https://example.com/report');
    expect(operation?.['x-codeSamples'][0]?.source).to.include("-H 'Svc-Cron: 0 8 * * *'");
  });

  async function judge(at: number, { method, url, headers, body }: Called): Promise<void> {
    const { name, path, operation } = operations[at] as (typeof operations)[number];
    expect(method, name).to.equal(name.split(' ')[0]);
    expect(url.startsWith(ADDRESS), `${name} ${url}`).to.equal(true);
    const pattern = path.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll(/\{\w+\}/g, '.+');
    expect(url.slice(ADDRESS.length).split('?')[0], name).to.match(new RegExp(`^${pattern}$`));
    const isOpen = JSON.stringify(operation.security) === '[{}]';
    expect(headers.Authorization === undefined, name).to.equal(isOpen);
    const example = operation.requestBody?.content['application/json']?.example;
    if (example !== undefined) expect(JSON.parse(body ?? ''), name).to.deep.equal(example);
    expect(body === undefined, name).to.equal(operation.requestBody === undefined);
  }
});

/** Runs the example with a `fetch` that notes the call. */
async function calledByScript(source: string): Promise<Called> {
  const calls: Called[] = [];
  const fetched = async (url: string, options: Partial<Called> = {}) => {
    const { method = 'GET', headers = {}, body } = options;
    calls.push({ method, url, headers, body });
    return { status: 200, json: async () => ({}), text: async () => '', body: { pipeThrough: () => [] } };
  };
  const Program = Object.getPrototypeOf(async () => {}).constructor;
  await new Program('fetch', 'process', 'console', source)(fetched, { env: ENV }, { log: () => {} });
  expect(calls).to.have.length(1);
  return calls[0] as Called;
}

/** Runs the examples in a shell with a `curl` that prints its words. */
function calledByShell(sources: readonly string[]): Called[] {
  const script = `curl() { printf '%s\\0' "$@" END; }\n${sources.join('\n')}\n`;
  const { stdout, status } = spawnSync('bash', ['-eu'], { input: script, env: { ...ENV, PATH: process.env.PATH } });
  expect(status).to.equal(0);
  const calls = String(stdout).split('\0END\0').slice(0, -1);
  return calls.map((call) => {
    const words = call.split('\0');
    const valuesOf = (option: string) => words.flatMap((word, at) => (word === option ? [words[at + 1] ?? ''] : []));
    const [body] = valuesOf('-d');
    const given = valuesOf('-H').map((line) => line.split(': ') as [string, string]);
    const [login] = valuesOf('-u');
    const headers = { ...Object.fromEntries(given), ...(login !== undefined && { Authorization: login }) };
    const implied = words.includes('-I') ? 'HEAD' : body === undefined ? 'GET' : 'POST';
    const url = words.find((word) => word.startsWith(ADDRESS)) ?? '';
    return { method: valuesOf('-X')[0] ?? implied, url, headers, body };
  });
}
