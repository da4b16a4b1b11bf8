/** `millrace mcp`, called by the published client of the Model Context Protocol, on a real process. */
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect } from 'chai';
import {
  type Environment,
  embeddedEnvironment,
  endEverything,
  MAIN,
  runMillrace,
  startMillrace,
  temporaryDirectory,
} from '../../support/millrace-process.js';

describe('millrace mcp', function () {
  this.timeout(120_000);
  let env: Environment;
  let mgmtUrl: string;
  const clients: Client[] = [];

  before(async () => {
    const dataDir = join(await temporaryDirectory(), 'data');
    env = {
      ...(await embeddedEnvironment(dataDir)),
      MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true',
      MILLRACE_MCP: 'read',
    };
    mgmtUrl = (await startMillrace({ dataDir, env })).addresses.mgmt ?? '';
    for (const words of [
      ['set', 'greeting', 'hello'],
      ['set', 'greeting', 'good morning'],
      ['publish', 'http://127.0.0.1:9/none', 'a body', '--retries', '0'],
    ]) {
      expect((await runMillrace(words, env)).code).to.equal(0);
    }
  });
  after(async () => {
    for (const client of clients) await client.close();
    await endEverything();
  });

  async function connected(...options: string[]): Promise<Client> {
    const client = new Client({ name: 'a test', version: '1.0.0' });
    const args = [MAIN, 'mcp', ...options];
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args,
        env: { ...process.env, ...env } as Record<string, string>,
      }),
    );
    clients.push(client);
    return client;
  }

  async function call(client: Client, name: string, given: Record<string, unknown> = {}) {
    const { content, isError } = await client.callTool({ name, arguments: given });
    const [first] = content;
    return { text: first?.type === 'text' ? first.text : '', isError: isError === true };
  }

  describe('without options', () => {
    let client: Client;
    before(async () => {
      client = await connected();
    });

    it('offers operations that read, each with a schema of its arguments', async () => {
      const { tools } = await client.listTools();
      const names = tools.map(({ name }) => name);
      expect(names).to.include.members([
        'kv_post',
        'get_v2_messages',
        'get_v2_kv_databases',
        'get_v2_admin_databases_id_timeline',
      ]);
      expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).to.equal(true);
      expect(names.filter((name) => /^(?:delete|patch|put)_/.test(name))).to.deep.equal([]);
      const dlq = tools.find(({ name }) => name === 'get_v2_dlq');
      expect(dlq?.inputSchema.properties).to.include.keys('cursor', 'count', 'fromDate');
    });

    it('runs a command that reads, and the server refuses one that writes', async () => {
      expect(await call(client, 'kv_post', { body: ['GET', 'greeting'] })).to.deep.equal({
        text: '{"result":"good morning"}',
        isError: false,
      });
      const refused = await call(client, 'kv_post', { body: ['SET', 'greeting', 'x'] });
      expect(refused.isError).to.equal(true);
      expect(refused.text).to.match(/NOPERM/);
    });

    it('hides passwords and tokens in answers', async () => {
      const { text } = await call(client, 'get_v2_kv_databases');
      expect(text).to.match(/"rest_token": ?"\(hidden\)"/);
      expect(text).to.match(/"password": ?"\(hidden\)"/);
    });

    it('cuts an answer after 32,768 characters, and says so', async () => {
      await runMillrace(['set', 'long', 'x'.repeat(40_000)], env);
      const { text } = await call(client, 'kv_post', { body: ['GET', 'long'] });
      expect(text.length).to.be.within(32_768, 33_000);
      expect(text).to.match(/cut after 32768 characters: ask for fewer results or one page$/);
    });

    it('names a missing argument, and a tool that needs --allow-changes', async () => {
      expect((await call(client, 'get_v2_messages_id')).text).to.equal('the argument id is missing');
      expect((await call(client, 'delete_v2_messages_id', { id: 'msg_1' })).text).to.match(/--allow-changes$/);
    });

    it('answers the prompt why-did-this-message-fail with the story of the message', async () => {
      const { messages } = JSON.parse((await call(client, 'get_v2_dlq')).text) as { messages: { messageId: string }[] };
      const id = messages[0]?.messageId ?? '';
      const prompt = await client.getPrompt({ name: 'why-did-this-message-fail', arguments: { message_id: id } });
      expect(JSON.stringify(prompt.messages))
        .to.include(`Why did message ${id} fail?`)
        .and.to.include('127.0.0.1:9/none');
    });

    it('answers the prompt what-changed-this-key with the changes of the key', async () => {
      const [{ database_id: id }] = JSON.parse((await call(client, 'get_v2_kv_databases')).text) as [
        { database_id: string },
      ];
      const prompt = await client.getPrompt({
        name: 'what-changed-this-key',
        arguments: { database_id: id, key: 'greeting' },
      });
      expect(JSON.stringify(prompt.messages)).to.include('hello').and.to.include('good morning');
    });
  });

  it('--only offers the operations of some areas', async () => {
    const { tools } = await (await connected('--only', 'queue')).listTools();
    expect(tools.map(({ name }) => name))
      .to.include('get_v2_messages')
      .and.to.not.include('kv_post');
    const { code, stderr } = await runMillrace(['mcp', '--only', 'queues'], env);
    expect([code, stderr]).to.deep.equal([
      1,
      'millrace: --only takes kv, queue, search, vector, management and operators, not queues\n',
    ]);
  });

  it('has no authorization server at /mcp without a provider: a client sends an API key', async () => {
    const refused = await fetch(`${mgmtUrl}/mcp`, { method: 'POST', body: '{}' });
    expect([refused.status, refused.headers.get('www-authenticate')]).to.deep.equal([401, 'Bearer realm="millrace"']);
    expect((await fetch(`${mgmtUrl}/.well-known/oauth-protected-resource/mcp`)).status).to.equal(404);
  });

  describe('with --allow-changes', () => {
    let client: Client;
    before(async () => {
      client = await connected('--allow-changes');
    });

    it('publishes a message to a URL, with headers as arguments', async () => {
      const { text } = await call(client, 'post_v2_publish_destination', {
        destination: 'https://example.com/later?a=b',
        'Svc-Delay': '1h',
        body: { order: 205 },
      });
      const { messageId } = JSON.parse(text) as { messageId: string };
      const message = JSON.parse((await call(client, 'get_v2_messages_id', { id: messageId })).text) as Record<
        string,
        unknown
      >;
      expect([message.url, message.body]).to.deep.equal(['https://example.com/later?a=b', '{"order":205}']);
    });

    it('removes data only when the call is repeated with the code of its first answer', async () => {
      const given = { body: ['DEL', 'greeting'] };
      const first = await call(client, 'kv_post', given);
      const code = /^The call was not made\..* repeat the call with confirm (\w{8})\.$/.exec(first.text)?.[1];
      expect(code, first.text).to.not.equal(undefined);
      expect((await call(client, 'kv_post', { body: ['DEL', 'other'], confirm: code })).text).to.match(
        /^The call was not made/,
      );
      expect((await call(client, 'kv_post', { body: ['EXISTS', 'greeting'] })).text).to.equal('{"result":1}');
      expect((await call(client, 'kv_post', { ...given, confirm: code })).text).to.equal('{"result":1}');
      expect((await call(client, 'kv_post', { body: ['EXISTS', 'greeting'] })).text).to.equal('{"result":0}');
    });
  });
});
