/**
 * Operations as tools of the Model Context Protocol: the arguments of a tool are the parameters of its operation, and `body`.
 *
 *  MCP1 without the right to change there are only tools that read, and the server gets read-only tokens
 *  MCP2 a call that removes data is done only when it is repeated with the code that its first call returned
 */
import { createHmac } from 'node:crypto';
import type { Tool } from '@modelcontextprotocol/server';
import type { Calls, ToolAnswer } from './calls.js';
import type { ApiDocument, Json, Operation } from './operations.js';

const REFERENCE = '#/components/schemas/';
/** Commands of the store that remove keys or replace all data. */
const DESTRUCTIVE_COMMANDS = /^(?:del|unlink|getdel|flushall|flushdb|function|restore|swapdb|search\.drop)$/i;
const CODE_CHARACTERS = 8;

const CONFIRM: Json = {
  type: 'string',
  description: 'The code that the first call returned. Give it only after the user agreed to exactly this call.',
};
const DATABASE: Json = { type: 'string', description: 'The id of the database; without it the first one.' };

interface ToolOptions {
  readonly mayChange: boolean;
  /** The key of the codes, random for each process. */
  readonly codeKey: Uint8Array;
}

export class Tools {
  readonly #operations: ReadonlyMap<string, Operation>;

  constructor(
    private readonly document: ApiDocument,
    operations: readonly Operation[],
    private readonly calls: Pick<Calls, 'call'>,
    private readonly options: ToolOptions,
  ) {
    const offered = operations.filter(({ isReadOnly }) => isReadOnly || options.mayChange);
    this.#operations = new Map(offered.map((operation) => [operation.name, operation]));
  }

  list(): Tool[] {
    return [...this.#operations.values()].map((operation) => this.#toolOf(operation));
  }

  /** Never throws: a failure is an answer that the program can read. */
  async call(name: string, given: Json, signal: AbortSignal): Promise<ToolAnswer> {
    const operation = this.#operations.get(name);
    if (operation === undefined) return { text: `there is no tool ${name}${this.#hint()}`, isError: true };
    if (this.#mayRemove(operation, given)) {
      const { confirm, ...rest } = given;
      const code = this.#codeOf(name, rest);
      if (confirm !== code) {
        const text = `The call was not made. ${operation.about} Ask the user; then repeat the call with confirm ${code}.`;
        return { text, isError: false };
      }
    }
    try {
      return await this.calls.call(operation, given, signal);
    } catch (error) {
      return { text: error instanceof Error ? error.message : String(error), isError: true };
    }
  }

  #hint(): string {
    return this.options.mayChange ? '' : ', or it changes data, which needs millrace mcp --allow-changes';
  }

  #mayRemove({ area, isDestructive }: Operation, { body }: Json): boolean {
    return isDestructive || (area === 'kv' && this.options.mayChange && removesKeys(body));
  }

  #codeOf(name: string, given: Json): string {
    const text = JSON.stringify([name, Object.entries(given).sort(([a], [b]) => (a < b ? -1 : 1))]);
    return createHmac('sha256', this.options.codeKey).update(text).digest('hex').slice(0, CODE_CHARACTERS);
  }

  #toolOf(operation: Operation): Tool {
    const { name, area, about, parameters, body, isDestructive, method } = operation;
    const isReadOnly = operation.isReadOnly && (area !== 'kv' || !this.options.mayChange);
    const { schemas } = this.document.components;
    const used = new Map<string, Json>();
    const properties: Record<string, Json> = {};
    for (const { name: parameter, schema, description } of parameters) {
      properties[parameter] = { ...located(schema, schemas, used), ...(description !== undefined && { description }) };
    }
    if (body !== undefined) properties.body = located(body.schema, schemas, used);
    if (area === 'kv') properties.database_id = DATABASE;
    if (isDestructive || (area === 'kv' && !isReadOnly)) properties.confirm = CONFIRM;
    const required = parameters.filter((parameter) => parameter.required).map((parameter) => parameter.name);
    if (body?.isRequired === true) required.push('body');
    return {
      name,
      description: about,
      inputSchema: { type: 'object', properties, required, ...(used.size > 0 && { $defs: Object.fromEntries(used) }) },
      annotations: {
        readOnlyHint: isReadOnly,
        destructiveHint: isDestructive || (area === 'kv' && !isReadOnly),
        idempotentHint: isReadOnly || method !== 'POST',
        openWorldHint: false,
      },
    };
  }
}

/** @param body a command, or a list of commands */
function removesKeys(body: unknown): boolean {
  if (!Array.isArray(body)) return false;
  const commands: readonly unknown[] = Array.isArray(body[0]) ? body : [body];
  return commands.some((words) => Array.isArray(words) && DESTRUCTIVE_COMMANDS.test(String(words[0])));
}

/** Schemas of the document are copied into `$defs` of the tool, with those that they refer to. */
function located(schema: Json, all: Readonly<Record<string, Json>>, used: Map<string, Json>): Json {
  const text = JSON.stringify(schema, (key, value: unknown) => {
    if (key !== '$ref' || typeof value !== 'string' || !value.startsWith(REFERENCE)) return value;
    const name = value.slice(REFERENCE.length);
    if (!used.has(name)) {
      used.set(name, {});
      used.set(name, located(all[name] ?? {}, all, used));
    }
    return `#/$defs/${name}`;
  });
  return JSON.parse(text) as Json;
}
