/** An area of the API: the routes of one endpoint, and the parts of the document that they share. */
import type { Described } from '../route.js';
import type { SampleClient } from './code-samples.js';
import type { ApiParameter, ApiServer, JsonSchema } from './parts.js';

/** Base URLs of the endpoints on other ports than the document's, with or without a scheme. */
export interface AreaUrls {
  readonly kv: string;
  readonly queue: string;
}

/** Refusals by status: the meaning, and an example text. */
export type Refusals = Readonly<Record<string, { readonly about: string; readonly text: string }>>;

export interface ApiArea {
  readonly name: string;
  readonly description: string;
  readonly routes: readonly Described[];
  /** The variables of addresses and credentials in the examples. */
  readonly client: SampleClient;
  /** Default: the address where the document was read. */
  readonly isAt?: keyof AreaUrls;
  /** Servers of an endpoint without a known address. */
  readonly servers?: readonly ApiServer[];
  /** Security schemes by their name in the document; any one of them is sufficient. */
  readonly security: Readonly<Record<string, JsonSchema>>;
  /** Parameters of every operation. */
  readonly parameters?: readonly ApiParameter[];
  /** Records that the routes reference by name. */
  readonly schemas?: Readonly<Record<string, JsonSchema>>;
  /** Default: `{"error": "…"}`. */
  readonly error?: JsonSchema;
  /** Prefix of operation ids, if another area has the same. */
  readonly prefix?: string;
  /** A body is always required. Default: if one of its fields is. */
  readonly needsBody?: boolean;
  /** Wraps the schema of a route's answer. */
  wrapped?(answer: JsonSchema): JsonSchema;
  /** A sentence about the credentials that a route accepts. */
  access(route: Described): string;
  /**
   * The refusals of a route to authorized and, unless it is open, unauthorized callers. @param path as in the
   * document
   */
  refusals(route: Described, path: string): Refusals;
}
