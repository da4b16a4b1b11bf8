/** A server of the Model Context Protocol with the tools and prompts of one caller, for any transport. */
import { acceptedContent, inputRequired, Server } from '@modelcontextprotocol/server';
import type { Json } from './operations.js';
import { listedPrompts, promptOf } from './prompts.js';
import type { Tools } from './tools.js';

const INSTRUCTIONS = `Millrace is a key-value store with the commands of Redis, a queue that delivers messages over HTTP, durable
workflows, search indexes, and their management. Each tool is one operation of its HTTP API. kv_post runs one command of
the store, as an array of words. Lists are paged: pass the cursor of an answer to get the next page.`;
/** The name of the question in an answer that needs the user's consent. */
const CONSENT = 'consent';

export function serverOf(tools: Tools, version: string): Server {
  const server = new Server(
    { name: 'millrace', version },
    { capabilities: { tools: {}, prompts: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler('tools/list', () => ({ tools: tools.list() }));
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: asked } }, { mcpReq }) => {
    const given = (asked ?? {}) as Json;
    const { inputResponses, signal } = mcpReq;
    const isAgreed = acceptedContent(inputResponses, CONSENT)?.agree === true;
    const state = mcpReq.requestState();
    const confirmed = isAgreed && typeof state === 'string' ? { ...given, confirm: state } : given;
    const { text, isError, code } = await tools.call(name, confirmed, signal);
    // A client that can ask its user gets the question; the code is for clients that cannot.
    if (code === undefined || server.getClientCapabilities()?.elicitation === undefined) {
      return { content: [{ type: 'text', text }], isError };
    }
    if (inputResponses !== undefined) {
      return { content: [{ type: 'text', text: 'The call was not made: the user did not agree.' }], isError: true };
    }
    return inputRequired({
      inputRequests: {
        [CONSENT]: inputRequired.elicit({
          message: tools.questionOf(name, given),
          requestedSchema: {
            type: 'object',
            properties: { agree: { type: 'boolean', title: 'Make this call' } },
            required: ['agree'],
          },
        }),
      },
      requestState: code,
    });
  });
  server.setRequestHandler('prompts/list', () => ({ prompts: listedPrompts() }));
  server.setRequestHandler('prompts/get', ({ params }, { mcpReq }) =>
    promptOf(params.name, params.arguments ?? {}, tools, mcpReq.signal),
  );
  return server;
}
