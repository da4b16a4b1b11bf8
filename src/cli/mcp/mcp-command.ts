/** `millrace mcp`: serves the Model Context Protocol over standard input and output, with the API's operations as tools. */
import { createHmac, randomBytes } from 'node:crypto';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { VERSION } from '../../adapters/node/index.js';
import {
  type ApiDocument,
  type CallCodes,
  Calls,
  Catalogue,
  isArea,
  operationsOf,
  serverOf,
  Tools,
} from '../../edge/mcp/tools/index.js';
import { RefusedCommand } from '../command-line.js';
import type { ParsedArguments } from '../parser.js';
import { AreaTokens, type ManagementLogin } from './area-tokens.js';

const CODE_CHARACTERS = 8;
const HINT = ', or it changes data, which needs millrace mcp --allow-changes';

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
  const tools = new Tools(new Catalogue(document, operations, mayChange, HINT), calls, new ShortCodes(randomBytes(32)));
  const handle = serveStdio(() => serverOf(tools, VERSION));
  await ended;
  await handle.close();
  return 0;
}

/** Codes that a person can read; they end with the process, which has one user. */
export class ShortCodes implements CallCodes {
  /** @param key random for each process */
  constructor(private readonly key: Uint8Array) {}

  codeOf(call: string): string {
    return createHmac('sha256', this.key).update(call).digest('hex').slice(0, CODE_CHARACTERS);
  }

  isCodeOf(call: string, code: unknown): boolean {
    return code === this.codeOf(call);
  }
}

async function documentOf({ url }: ManagementLogin): Promise<ApiDocument> {
  const answer = await fetch(`${url}/openapi.json`);
  if (!answer.ok) throw new RefusedCommand(`${url}/openapi.json answered ${answer.status}`);
  return (await answer.json()) as ApiDocument;
}
