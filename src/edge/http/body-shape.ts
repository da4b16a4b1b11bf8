/** Bodies without a class, as a route declares them. */
import { JSON_TYPE, type JsonSchema } from './openapi/parts.js';

export interface BodyShape {
  readonly of: JsonSchema;
  /** Default: the area's rule, else yes. */
  readonly isNeeded?: boolean;
  /** Media types. Default: JSON. */
  readonly types?: readonly string[];
  readonly description?: string;
}

/** Bytes that are stored or forwarded without being parsed; any media type, usually JSON. */
export function anyBody(description: string): BodyShape {
  return { of: {}, isNeeded: false, types: [JSON_TYPE, '*/*'], description };
}
