/**
 * A client generated from the OpenAPI document alone: infra/write-api-types.mjs writes its types, the compiler checks a
 * program against them, and the program runs against a real process.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { endEverything, TOKEN } from '../../support/millrace-process.js';
import { QUEUE_TOKEN } from '../../support/queue-process.js';
import { WorkflowStand } from '../../support/workflow-stand.js';

const EMAIL = 'admin@tests.example';
const KEY = 'mrk_key-of-the-tests-0123456789';
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const run = promisify(execFile);

const PROGRAM = `
import createClient from 'openapi-fetch';
import type { paths } from './api.js';

interface At { kv: string; queue: string; mgmt: string; tokens: { kv: string; queue: string; basic: string }; sink: string }

export async function use({ kv, queue, mgmt, tokens, sink }: At) {
  const client = (baseUrl: string, authorization: string) => createClient<paths>({ baseUrl, headers: { authorization } });
  const ofKv = client(kv, 'Bearer ' + tokens.kv);
  const ofQueue = client(queue, 'Bearer ' + tokens.queue);
  const management = client(mgmt, 'Basic ' + tokens.basic);

  const set = await ofKv.POST('/', { body: ['SET', 'greeting', 'hello'] });
  const get = await ofKv.GET('/{command}/{arguments}', { params: { path: { command: 'get', arguments: 'greeting' } } });

  const published = await ofQueue.POST('/v2/publish/{destination}', {
    params: { path: { destination: sink }, header: { 'Svc-Retries': 2, 'Svc-Label': 'generated' } },
    body: { hello: 'world' },
  });
  const refused = await ofQueue.POST('/v2/queues', { body: { queueName: 'a/b' } });

  const databases = await management.GET('/v2/kv/databases');
  const [database] = databases.data ?? [];
  const id: string = database?.database_id ?? '';
  const statistics = await management.GET('/v2/kv/stats/{id}', { params: { path: { id }, query: { period: '1h' } } });

  return {
    set: set.data?.result,
    get: get.data?.result,
    published: published.data,
    refused: refused.error?.error,
    throughput: statistics.data?.throughput.map(({ x }: { x: string }) => x),
  };
}
`;

describe('a client generated from the OpenAPI document', function () {
  this.timeout(120_000);
  let stand: WorkflowStand;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(ROOT, 'dist', 'generated-client-'));
    await run(process.execPath, [join(ROOT, 'infra/write-api-types.mjs'), join(folder, 'api.d.ts')]);
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    stand = await WorkflowStand.start({ MILLRACE_MGMT_EMAIL: EMAIL, MILLRACE_MGMT_KEY: KEY });
  });
  after(async () => {
    await stand.stop();
    await endEverything();
    await rm(folder, { recursive: true, force: true });
  });

  /** @returns the output of the compiler */
  async function compiled(name: string, program: string): Promise<string> {
    await writeFile(join(folder, `${name}.ts`), program);
    const options = [
      '--strict',
      '--module',
      'NodeNext',
      '--target',
      'ES2022',
      '--skipLibCheck',
      '--ignoreConfig',
      '--types',
      '',
    ];
    const tsc = join(ROOT, 'node_modules/typescript/lib/tsc.js');
    const file = join(folder, `${name}.ts`);
    return run(process.execPath, [tsc, ...options, file]).then(
      () => '',
      (failure: { stdout: string }) => failure.stdout,
    );
  }

  it('publishes a message, runs commands and reads statistics', async () => {
    expect(await compiled('program', PROGRAM)).to.equal('');
    const { use } = (await import(pathToFileURL(join(folder, 'program.js')).href)) as {
      use(at: object): Promise<Record<string, unknown>>;
    };
    const { queue } = stand;
    const sink = queue.sink.url('/generated');
    const { kv, queue: queueUrl, mgmt } = queue.millrace.addresses;
    const basic = Buffer.from(`${EMAIL}:${KEY}`).toString('base64');
    const tokens = { kv: TOKEN, queue: QUEUE_TOKEN, basic };
    const { published, throughput, ...done } = await use({ kv, queue: queueUrl, mgmt, tokens, sink });
    expect(done).to.deep.include({ set: 'OK', get: 'hello' });
    expect(done.refused).to.match(/queueName/);
    expect(published).to.include({ url: sink });
    expect(throughput).to.be.an('array').with.length.greaterThan(10);
    const delivered = await queue.sink.call('/generated');
    expect(delivered.body.toString()).to.equal('{"hello":"world"}');
  });

  it('does not compile with a path or a value that the document does not have', async () => {
    const wrong = PROGRAM.replace("'/v2/queues'", "'/v2/lines'").replace("period: '1h'", "period: 'long'");
    const said = await compiled('wrong', wrong);
    expect(said).to.include('/v2/lines');
    expect(said).to.include('"long"');
  });
});
