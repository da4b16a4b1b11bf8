/** The form of a route's answer, as its declaration states it and the OpenAPI document shows it. */
import type { JsonSchema } from './openapi/parts.js';
import type { ClassOf } from './request-class.js';

export type AnswerShape =
  | { readonly kind: 'object' | 'list'; readonly of: ClassOf<object> }
  /** The text `"OK"`, with its quotes. */
  | { readonly kind: 'ok' }
  | { readonly kind: 'texts' }
  /** JSON without a class. */
  | { readonly kind: 'json'; readonly of: JsonSchema; readonly description?: string; readonly example?: unknown }
  /** An answer that is not JSON. */
  | { readonly kind: 'other'; readonly type: string; readonly description: string; readonly events?: EventShapes };

/** JSON schemas of server-sent events, by event name. */
type EventShapes = Readonly<Record<string, JsonSchema>>;

/** An answer of a JSON route in another form, which the caller asked for. */
export class PlainAnswer {
  constructor(
    readonly type: string,
    readonly text: string,
  ) {}
}

export function one(type: ClassOf<object>): AnswerShape {
  return { kind: 'object', of: type };
}

export function listOf(type: ClassOf<object>): AnswerShape {
  return { kind: 'list', of: type };
}

export const OK_ANSWER: AnswerShape = { kind: 'ok' };
export const OK_TEXT = 'OK';
export const TEXTS: AnswerShape = { kind: 'texts' };

export function json(of: JsonSchema, description?: string, example?: unknown): AnswerShape {
  return {
    kind: 'json',
    of,
    ...(description !== undefined && { description }),
    ...(example !== undefined && { example }),
  };
}

/** Server-sent events. @param data default: the events hold no JSON */
export function events(description: string, data?: EventShapes): AnswerShape {
  return { kind: 'other', type: 'text/event-stream', description, ...(data !== undefined && { events: data }) };
}
