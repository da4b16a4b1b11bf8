/** `millrace mcp`: serves the Model Context Protocol over standard input and output, with the API's operations as tools. */
import { randomBytes } from 'node:crypto';
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { VERSION } from '../../adapters/node/index.js';
import { RefusedCommand } from '../command-line.js';
import type { ParsedArguments } from '../parser.js';
import { AreaTokens, type ManagementLogin } from './area-tokens.js';
import { Calls } from './calls.js';
import { type ApiDocument, isArea, type Json, operationsOf } from './operations.js';
import { listedPrompts, promptOf } from './prompts.js';
import { Tools } from './tools.js';

const INSTRUCTIONS = `Millrace is a key-value store with the commands of Redis, a queue that delivers messages over HTTP, durable
workflows, search indexes, and their management. Each tool is one operation of its HTTP API. kv_post runs one command of
the store, as an array of words. Lists are paged: pass the cursor of an answer to get the next page.`;

/** Resolves when the program that asks has closed its end. */
export async function mcpCommand(
  { flags, options }: ParsedArguments,
  access: ManagementLogin,
  ended: Promise<void>,
): Promise<number> {
  const areas = options.only?.split(',');
  const unknown = areas?.find((area) => !isArea(area));
  if (unknown !== undefined) {
    throw new RefusedCommand(`--only takes kv, queue, search, vector, management and operators, not ${unknown}`);
  }
  const mayChange = flags.has('allow-changes');
  const document = await documentOf(access);
  const operations = operationsOf(document, access.url).filter(({ area }) => areas?.includes(area) ?? true);
  const calls = new Calls(new AreaTokens(access, mayChange, () => performance.now()));
  const tools = new Tools(document, operations, calls, { mayChange, codeKey: randomBytes(32) });
  const handle = serveStdio(() => serverOf(tools));
  await ended;
  await handle.close();
  return 0;
}

async function documentOf({ url }: ManagementLogin): Promise<ApiDocument> {
  const answer = await fetch(`${url}/openapi.json`);
  if (!answer.ok) throw new RefusedCommand(`${url}/openapi.json answered ${answer.status}`);
  return (await answer.json()) as ApiDocument;
}

function serverOf(tools: Tools): Server {
  const server = new Server(
    { name: 'millrace', version: VERSION },
    { capabilities: { tools: {}, prompts: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler('tools/list', () => ({ tools: tools.list() }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const { text, isError } = await tools.call(params.name, (params.arguments ?? {}) as Json, mcpReq.signal);
    return { content: [{ type: 'text', text }], isError };
  });
  server.setRequestHandler('prompts/list', () => ({ prompts: listedPrompts() }));
  server.setRequestHandler('prompts/get', ({ params }, { mcpReq }) =>
    promptOf(params.name, params.arguments ?? {}, tools, mcpReq.signal),
  );
  return server;
}
