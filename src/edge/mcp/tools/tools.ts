/**
 * Operations as tools of the Model Context Protocol: the arguments of a tool are the parameters of its operation, and `body`.
 *
 *  MCP1 without the right to change there are only tools that read, and the server gets read-only tokens
 *  MCP2 a call that removes data is done only when it is repeated with the code that its first call returned
 */
import type { Tool } from '@modelcontextprotocol/server';
import type { Calls, ToolAnswer } from './calls.js';
import type { ApiDocument, Json, Operation } from './operations.js';

const REFERENCE = '#/components/schemas/';
/** Commands of the store that remove keys or replace all data. */
const DESTRUCTIVE_COMMANDS = /^(?:del|unlink|getdel|flushall|flushdb|function|restore|swapdb|search\.drop)$/i;

const CONFIRM: Json = {
  type: 'string',
  description: 'The code that the first call returned. Give it only after the user agreed to exactly this call.',
};
/** A person reads that much before agreeing. */
const MAX_SHOWN_CHARACTERS = 1_000;
const DATABASE: Json = { type: 'string', description: 'The id of the database; without it the first one.' };

/** Codes that confirm a call: the text of another call has another code. */
export interface CallCodes {
  codeOf(call: string): string;
  isCodeOf(call: string, code: unknown): boolean;
}

export interface OfferedAnswer extends ToolAnswer {
  /** Set if the call was not made: it confirms the same call. */
  readonly code?: string;
}

/** The tools of a document; made once, because their schemas take some milliseconds. */
export class Catalogue {
  readonly operations: ReadonlyMap<string, Operation>;
  #tools: readonly Tool[] | undefined;

  /** @param hint the way to the tools that change data */
  constructor(
    private readonly document: ApiDocument,
    operations: readonly Operation[],
    readonly mayChange: boolean,
    readonly hint = '',
  ) {
    const offered = operations.filter(({ isReadOnly }) => isReadOnly || mayChange);
    this.operations = new Map(offered.map((operation) => [operation.name, operation]));
  }

  get tools(): readonly Tool[] {
    this.#tools ??= [...this.operations.values()].map((operation) => this.#toolOf(operation));
    return this.#tools;
  }

  #toolOf(operation: Operation): Tool {
    const { name, area, about, parameters, body, isDestructive, method } = operation;
    const isReadOnly = operation.isReadOnly && (area !== 'kv' || !this.mayChange);
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

/** The tools for one caller. */
export class Tools {
  constructor(
    private readonly catalogue: Catalogue,
    private readonly calls: Pick<Calls, 'call'>,
    private readonly codes: CallCodes,
  ) {}

  list(): Tool[] {
    return [...this.catalogue.tools];
  }

  /** Never throws: a failure is an answer that the program can read. */
  async call(name: string, given: Json, signal: AbortSignal): Promise<OfferedAnswer> {
    const operation = this.catalogue.operations.get(name);
    if (operation === undefined) return { text: `there is no tool ${name}${this.#hint()}`, isError: true };
    const { confirm, ...rest } = given;
    if (this.#mayRemove(operation, rest)) {
      const call = callText(name, rest);
      if (!this.codes.isCodeOf(call, confirm)) {
        const code = this.codes.codeOf(call);
        const text = `The call was not made. ${operation.about} Ask the user; then repeat the call with confirm ${code}.`;
        return { text, isError: false, code };
      }
    }
    try {
      return await this.calls.call(operation, rest, signal);
    } catch (error) {
      return { text: error instanceof Error ? error.message : String(error), isError: true };
    }
  }

  /** The question to the user about a call that needs a code. */
  questionOf(name: string, given: Json): string {
    const { confirm, ...rest } = given;
    const shown = JSON.stringify(rest);
    const end = shown.length > MAX_SHOWN_CHARACTERS ? '…' : '';
    const about = this.catalogue.operations.get(name)?.about ?? '';
    return `${name}: ${about} ${shown.slice(0, MAX_SHOWN_CHARACTERS)}${end}`;
  }

  #hint(): string {
    return this.catalogue.mayChange ? '' : this.catalogue.hint;
  }

  #mayRemove({ area, isDestructive }: Operation, { body }: Json): boolean {
    return isDestructive || (area === 'kv' && this.catalogue.mayChange && removesKeys(body));
  }
}

/** The same text for the same arguments in any order. */
function callText(name: string, given: Json): string {
  return JSON.stringify([name, Object.entries(given).sort(([a], [b]) => (a < b ? -1 : 1))]);
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
