/** Proves MCP1, MCP2: which operations of the OpenAPI document are tools, their schemas, and the code of a removal. */
import { expect } from 'chai';
import { ShortCodes } from '../../../src/cli/mcp/mcp-command.js';
import { openApiDocument } from '../../../src/edge/http/openapi/document.js';
import { managementArea } from '../../../src/edge/management/openapi-route.js';
import { MANAGEMENT_ROUTES } from '../../../src/edge/management/routes/index.js';
import { type ApiDocument, Catalogue, operationsOf, Tools } from '../../../src/edge/mcp/tools/index.js';
import { AREAS } from '../../../src/edge/openapi/index.js';

const URLS = { kv: 'http://127.0.0.1:7100', queue: 'http://127.0.0.1:7200' };
const all = openApiDocument([...AREAS, managementArea(MANAGEMENT_ROUTES)], URLS, '1.0.0');
const document = JSON.parse(JSON.stringify(all)) as ApiDocument;
const operations = operationsOf(document, 'http://127.0.0.1:7300');

function toolsOf(mayChange: boolean) {
  const made: unknown[] = [];
  const calls = {
    call: async (...given: unknown[]) => {
      made.push(given);
      return { text: 'done', isError: false };
    },
  };
  const catalogue = new Catalogue(document, operations, mayChange);
  return { made, tools: new Tools(catalogue, calls, new ShortCodes(new Uint8Array(32))) };
}

describe('millrace mcp: operations as tools', () => {
  it('are called at the port of their area', () => {
    const urlOf = (name: string) => {
      const { base, path } = operations.find((one) => one.name === name) ?? {};
      return `${base}${path}`;
    };
    expect(urlOf('kv_post')).to.equal('http://127.0.0.1:7100/');
    expect(urlOf('get_v2_dlq')).to.equal('http://127.0.0.1:7200/v2/dlq');
    expect(urlOf('get_v2_kv_databases')).to.equal('http://127.0.0.1:7300/v2/kv/databases');
  });

  it('leave out streams, bytes, sessions, signing keys and second spellings', () => {
    const names = operations.map(({ name }) => name);
    const leftOut = [
      'kv_post_monitor',
      'get_v2_admin_cluster_events',
      'get_v2_admin_databases_id_backup',
      'get_v2_keys',
    ];
    expect(names.filter((name) => leftOut.includes(name))).to.deep.equal([]);
    expect(names.filter((name) => /auditlogs$/.test(name))).to.have.length(1);
    expect(names.filter((name) => /sessions?$/.test(name))).to.deep.equal([]);
  });

  it('that read are the only ones without the right to change', () => {
    const names = toolsOf(false)
      .tools.list()
      .map(({ name }) => name);
    expect(names).to.include.members(['kv_post', 'get_v2_messages', 'post_search_id_search_index']);
    for (const { name, method, isReadOnly } of operations)
      expect(names.includes(name), `${method} ${name}`).to.equal(isReadOnly);
  });

  it('refer to schemas that the tool itself contains', () => {
    for (const { name, inputSchema } of toolsOf(true).tools.list()) {
      const references = [...JSON.stringify(inputSchema).matchAll(/"\$ref":"#\/\$defs\/(\w+)"/g)].map(([, of]) => of);
      expect(Object.keys(inputSchema.$defs ?? {}), name).to.include.members(references);
      expect(JSON.stringify(inputSchema), name).to.not.include('#/components/');
    }
  });

  it('say by their annotations whether they read, change or remove', () => {
    const listed = toolsOf(true).tools.list();
    const hints = (wanted: string) => {
      const { annotations } = listed.find(({ name }) => name === wanted) ?? {};
      return [annotations?.readOnlyHint, annotations?.destructiveHint];
    };
    expect(hints('get_v2_messages')).to.deep.equal([true, false]);
    expect(hints('post_v2_queues')).to.deep.equal([false, false]);
    expect(hints('delete_v2_queues_name')).to.deep.equal([false, true]);
    expect(hints('post_v2_kv_restore_backup_id')).to.deep.equal([false, true]);
    expect(hints('kv_post')).to.deep.equal([false, true]);
  });

  it('remove data only with the code of exactly these arguments', async () => {
    const { tools, made } = toolsOf(true);
    const { signal } = new AbortController();
    const { text } = await tools.call('delete_v2_queues_name', { name: 'letters' }, signal);
    const confirm = /confirm (\w+)\.$/.exec(text)?.[1] ?? '';
    await tools.call('delete_v2_queues_name', { name: 'orders', confirm }, signal);
    expect(made).to.deep.equal([]);
    expect((await tools.call('delete_v2_queues_name', { name: 'letters', confirm }, signal)).text).to.equal('done');
    expect(made).to.have.length(1);
  });

  it('of commands need the code for each pipeline that removes keys', async () => {
    const { tools, made } = toolsOf(true);
    const { signal } = new AbortController();
    await tools.call(
      'kv_post_pipeline',
      {
        body: [
          ['GET', 'a'],
          ['DEL', 'a'],
        ],
      },
      signal,
    );
    expect(made).to.deep.equal([]);
    await tools.call(
      'kv_post_pipeline',
      {
        body: [
          ['GET', 'a'],
          ['SET', 'a', '1'],
        ],
      },
      signal,
    );
    expect(made).to.have.length(1);
  });
});
