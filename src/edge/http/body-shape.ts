/** Bodies that no class describes, as a route's declaration says them. */
import { JSON_TYPE, type JsonSchema } from './openapi/parts.js';

export interface BodyShape {
  readonly of: JsonSchema;
  /** Left out: as its area says, else yes. */
  readonly isNeeded?: boolean;
  /** Media types; left out: JSON. */
  readonly types?: readonly string[];
  readonly description?: string;
}

/** Bytes that nobody reads, of whatever type: JSON is the usual one. */
export function anyBody(description: string): BodyShape {
  return { of: {}, isNeeded: false, types: [JSON_TYPE, '*/*'], description };
}
