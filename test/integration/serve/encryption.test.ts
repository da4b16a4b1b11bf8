/**
 * Encryption at rest of a real process: texts of tenants in no byte of its data directory, wrong keys, and a rotation. It
 * is killed, and takes over the graph of a vector set from its encrypted file.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Canary } from '../../support/canary.js';
import { eventually } from '../../support/eventually.js';
import {
  type Environment,
  embeddedEnvironment,
  endEverything,
  expectServeRefused,
  type MillraceProcess,
  PASSWORD,
  READONLY_TOKEN,
  runMillrace,
  startMillrace,
  TOKEN,
  temporaryDirectory,
} from '../../support/millrace-process.js';
import { QUEUE_TOKEN, SIGNING_KEYS } from '../../support/queue-process.js';
import { QueueSink } from '../../support/queue-sink.js';
import { createSearchDatabase, MGMT_KEY, SEARCH_ENVIRONMENT, searchCall } from '../../support/search-process.js';

const TEXTS = {
  key: 'canary-of-a-key-0123456789',
  value: 'canary-of-a-value-0123456789',
  text: 'canary-of-a-json-text-0123456789',
  body: 'canary-of-a-body-0123456789',
  header: 'canary-of-a-header-0123456789',
  destination: 'canary-of-a-destination-0123456789',
  document: 'canary-of-a-document-0123456789',
  vector: 'canary-of-a-vector-0123456789',
};
/** Enough for a graph in a file, of which half have to be linked. */
const VECTORS = 10_000;
const QUERIES_IN_A_CALL = 100;
const NEAREST = ['VSIM', 'near', 'VALUES', '3', '0.3', '0.4', '0.1', 'COUNT', '20'];
const LONG = { timeoutMs: 30_000, everyMs: 100 };

describe('a process with MILLRACE_ENCRYPTION_KEY', () => {
  let dataDir: string;
  let keys: string;
  let sink: QueueSink;
  let environment: Environment;
  let millrace: MillraceProcess;
  const key = (name: string) => `file:${join(keys, name)}`;
  const begin = (name: string) =>
    startMillrace({ dataDir, env: { ...environment, MILLRACE_ENCRYPTION_KEY: key(name) } });

  before(async () => {
    dataDir = await temporaryDirectory();
    keys = await temporaryDirectory();
    sink = await QueueSink.listening();
    for (const name of ['first', 'second', 'other'])
      writeFileSync(join(keys, name), `${randomBytes(32).toString('base64')}\n`);
    environment = {
      ...(await embeddedEnvironment(dataDir)),
      ...SEARCH_ENVIRONMENT,
      MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true',
      MILLRACE_QUEUE_TOKEN: QUEUE_TOKEN,
      MILLRACE_SIGNING_KEY_CURRENT: SIGNING_KEYS.current,
      MILLRACE_SIGNING_KEY_NEXT: SIGNING_KEYS.next,
      MILLRACE_SNAPSHOT_ENTRIES: '10',
    };
    millrace = await begin('first');
  });
  after(async () => {
    await sink.close();
    await endEverything();
  });

  const canary = new Canary();
  const secrets = { TOKEN, READONLY_TOKEN, PASSWORD, QUEUE_TOKEN, MGMT_KEY, signing: SIGNING_KEYS.current };
  for (const [name, text] of Object.entries({ ...TEXTS, ...secrets })) canary.add(name, text);

  async function write(): Promise<void> {
    const { kv } = millrace;
    await eventually(() => kv.ask('SET', TEXTS.key, TEXTS.value), LONG);
    for (let at = 0; at < 30; at += 1)
      await kv.ask('JSON.SET', `doc:${at}`, '$', JSON.stringify({ title: TEXTS.text }));
    const published = await fetch(`${millrace.addresses.queue}/v2/publish/${sink.url(`/${TEXTS.destination}`)}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${QUEUE_TOKEN}`, 'svc-forward-x-canary': TEXTS.header },
      body: TEXTS.body,
    });
    expect(published.status).to.equal(200);
    await sink.arrived(`/${TEXTS.destination}`);
    const documents = await createSearchDatabase(millrace, 'films');
    await searchCall(documents, 'upsert-data', [{ id: '1', content: { title: TEXTS.document } }]);
  }

  async function pipeline(commands: readonly (readonly (string | number)[])[]): Promise<unknown[]> {
    const answer = await fetch(`${millrace.kvUrl}/pipeline`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}` },
      body: JSON.stringify(commands),
    });
    expect(answer.status).to.equal(200);
    return ((await answer.json()) as { result: unknown }[]).map(({ result }) => result);
  }

  const indexFiles = () =>
    readdirSync(join(dataDir, 'indexes'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.index'),
    );

  /** A vector set with a graph that queries have built. */
  async function writeGraph(): Promise<void> {
    for (let from = 0; from < VECTORS; from += 1000) {
      const added = Array.from({ length: 1000 }, (_, step) => {
        const at = from + step;
        return ['VADD', 'near', 'VALUES', 3, Math.sin(at), Math.cos(3 * at), Math.sin(7 * at), `${TEXTS.vector}-${at}`];
      });
      await pipeline(added);
    }
    await eventually(
      async () => {
        await pipeline(Array.from({ length: QUERIES_IN_A_CALL }, () => NEAREST));
        expect(indexFiles()).to.have.length(1);
      },
      { timeoutMs: 60_000 },
    );
  }

  it('writes no text of a tenant and no secret to its data directory, in snapshots and read models', async () => {
    await write();
    await writeGraph();
    // The log of messages is in the file of the read models.
    await eventually(async () => {
      const logs = await fetch(`${millrace.addresses.queue}/v2/logs`, {
        headers: { authorization: `Bearer ${QUEUE_TOKEN}` },
      });
      expect(await logs.text()).to.contain('DELIVERED');
    }, LONG);
    expect(await canary.inFiles(dataDir), 'while it serves').to.deep.equal([]);
    await millrace.kill('SIGKILL');
    expect(await canary.inFiles(dataDir), 'after a kill').to.deep.equal([]);
  });

  async function takesOverTheGraph(): Promise<void> {
    // Without a query no graph is built.
    await eventually(async () => {
      const [facts] = await pipeline([['VINFO', 'near']]);
      expect((facts as unknown[])[(facts as unknown[]).indexOf('max-level') + 1]).to.be.above(0);
    }, LONG);
    const [found, exact] = await pipeline([NEAREST, [...NEAREST, 'TRUTH']]);
    expect(found).to.deep.equal(exact);
    await pipeline([['DEL', 'near']]);
    await eventually(() => expect(indexFiles()).to.deep.equal([]), LONG);
  }

  it('opens with its files after a kill, with either key after millrace encryption rotate, and only with the new one after retire', async () => {
    millrace = await begin('first');
    expect(await eventually(() => millrace.kv.ask('GET', TEXTS.key), LONG)).to.equal(TEXTS.value);
    await takesOverTheGraph();
    const both = { ...environment, MILLRACE_ENCRYPTION_KEY: key('first'), MILLRACE_ENCRYPTION_NEXT_KEY: key('second') };
    const rotated = await runMillrace(['encryption', 'rotate'], both);
    expect(rotated.code, rotated.stderr).to.equal(0);
    await millrace.kv.ask('SET', 'written', 'during the rotation');
    await millrace.kill('SIGKILL');
    millrace = await begin('second');
    expect(await eventually(() => millrace.kv.ask('GET', 'written'), LONG)).to.equal('during the rotation');
    const retired = await runMillrace(['encryption', 'retire'], {
      ...environment,
      MILLRACE_ENCRYPTION_KEY: key('second'),
    });
    expect(retired.code, retired.stderr).to.equal(0);
    await millrace.kill('SIGTERM');
    expect(await canary.inFiles(dataDir), 'after a stop').to.deep.equal([]);
    await expectServeRefused({ ...environment, MILLRACE_ENCRYPTION_KEY: key('first') }, 'give that key');
  });
});
