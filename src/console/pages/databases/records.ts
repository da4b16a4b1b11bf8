/** A database as the API shows it, and the properties of its tabs. */
import type { Operations } from '#api';

export type DatabaseView = Operations['GET /v2/kv/database/{id}'];

export type Branch = Operations['GET /v2/kv/database/{id}/branches'][number];

export interface DatabaseTabProps {
  readonly database: DatabaseView;
  /** Called after a change of the record. */
  onChanged(): void;
}
