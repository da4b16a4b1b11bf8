/** An area of the interface: routes of one face, and what the document says of all of them alike. */
import type { Described } from '../route.js';
import type { ApiParameter, ApiServer, JsonSchema } from './parts.js';

/** Where the faces are that are not where the document is read: base URLs, or the same without a scheme. */
export interface AreaUrls {
  readonly kv: string;
  readonly queue: string;
}

/** What is refused, by status: what that means, and a text that comes with it. */
export type Refusals = Readonly<Record<string, { readonly about: string; readonly text: string }>>;

export interface ApiArea {
  readonly name: string;
  readonly description: string;
  readonly routes: readonly Described[];
  /** Left out: where the document was read. */
  readonly isAt?: keyof AreaUrls;
  /** Where that is, for a face whose address nobody is told. */
  readonly servers?: readonly ApiServer[];
  /** Any one of these schemes lets in: each by its name in the document. */
  readonly security: Readonly<Record<string, JsonSchema>>;
  /** Parameters that every operation has beside its own. */
  readonly parameters?: readonly ApiParameter[];
  /** Records that the routes refer to by name. */
  readonly schemas?: Readonly<Record<string, JsonSchema>>;
  /** Left out: `{"error": "…"}`. */
  readonly error?: JsonSchema;
  /** Before the names of operations, where they would be another area's. */
  readonly prefix?: string;
  /** A body is always needed. Left out: where a field of it is. */
  readonly needsBody?: boolean;
  /** What an answer holds, given what the route answers. */
  wrapped?(answer: JsonSchema): JsonSchema;
  /** What is refused to those who may ask, and to those who may not, where the route is not open. @param path as the document has it */
  refusals(route: Described, path: string): Refusals;
}
