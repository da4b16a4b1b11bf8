/** Calls of operations, with answers of a bounded length and without secrets. */
import type { Json, Operation, Parameter } from './operations.js';

/** About 8,000 words: a longer answer would fill the memory of the program that asks. */
const MAX_ANSWER_CHARACTERS = 32 * 1024;
/** The longest call of the API ends by itself before. */
const CALL_MS = 60_000;
const SECRET_NAME = /^(?:\w+_)?(?:token|password|secret)$/;
const HIDDEN = '(hidden)';

export interface ToolAnswer {
  readonly text: string;
  readonly isError: boolean;
}

/** A call of an operation, without credentials. */
export interface ApiRequest {
  /** The path with its query. */
  readonly target: string;
  readonly headers: Headers;
  readonly body: string | undefined;
  /** The database or index; undefined: the first database. */
  readonly id: string | undefined;
  readonly signal: AbortSignal;
}

/** The way of calls to the API, with the caller's credentials. */
export interface ApiDoor {
  /** @throws Error when there is no answer, or no credentials for the area */
  send(operation: Operation, request: ApiRequest): Promise<Response>;
}

export class Calls {
  constructor(private readonly door: ApiDoor) {}

  /** @throws Error for a missing argument, or when there is no answer */
  async call(operation: Operation, given: Json, signal: AbortSignal): Promise<ToolAnswer> {
    const { area, body } = operation;
    const headers = new Headers({ accept: 'application/json' });
    const target = targetOf(operation, given, headers);
    const id = area === 'kv' ? given.database_id : given.id;
    const sent = body === undefined ? undefined : given.body;
    if (sent !== undefined && body !== undefined) headers.set('content-type', body.type);
    const answer = await this.door.send(operation, {
      target,
      headers,
      body: sent === undefined || typeof sent === 'string' ? sent : JSON.stringify(sent),
      id: typeof id === 'string' ? id : undefined,
      signal: AbortSignal.any([signal, AbortSignal.timeout(CALL_MS)]),
    });
    const { text, isCut } = await beginningOf(answer);
    const status = answer.ok ? '' : `${answer.status}: `;
    const remark = isCut ? `\n… cut after ${MAX_ANSWER_CHARACTERS} characters: ask for fewer results or one page` : '';
    return { text: `${status}${withoutSecrets(text)}${remark}`, isError: !answer.ok };
  }
}

/** @param headers gets the parameters that are headers */
function targetOf({ path: template, parameters }: Operation, given: Json, headers: Headers): string {
  let path = template;
  const query = new URLSearchParams();
  for (const parameter of parameters) {
    const value = given[parameter.name];
    if (value === undefined || value === null) {
      if (parameter.required) throw new Error(`the argument ${parameter.name} is missing`);
    } else if (parameter.in === 'path') path = path.replace(`{${parameter.name}}`, pathPart(parameter, value));
    else if (parameter.in === 'header') headers.set(parameter.name, String(value));
    else for (const one of Array.isArray(value) ? value : [value]) query.append(parameter.name, String(one));
  }
  return query.size === 0 ? path : `${path}?${query}`;
}

/** A destination may be a URL, which the API reads as it is written. */
function pathPart({ name }: Parameter, value: unknown): string {
  const text = String(value);
  return name === 'destination' && URL.canParse(text) ? new URL(text).href : encodeURIComponent(text);
}

async function beginningOf(answer: Response): Promise<{ readonly text: string; readonly isCut: boolean }> {
  let text = '';
  if (answer.body === null) return { text, isCut: false };
  for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    // Leaving the loop cancels the rest.
    if (text.length > MAX_ANSWER_CHARACTERS) return { text: text.slice(0, MAX_ANSWER_CHARACTERS), isCut: true };
  }
  return { text, isCut: false };
}

/** Replaces the values of fields with the name of a secret. It works on the text, because a cut answer is no JSON. */
function withoutSecrets(text: string): string {
  return text.replace(/"((?:[^"\\]|\\.)*)":\s*"((?:[^"\\]|\\.)*)"?/g, (whole, name: string, value: string) =>
    SECRET_NAME.test(name) && value !== '' ? `"${name}":"${HIDDEN}"` : whole,
  );
}
