/** A database as the API shows it, and what pages of one are given. */
import type { Operations } from '#api';

export type ShownDatabase = Operations['GET /v2/kv/database/{id}'];

export interface DatabaseTabProps {
  readonly database: ShownDatabase;
  /** Something of its record was changed. */
  onChanged(): void;
}
