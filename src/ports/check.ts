/** The readiness of one part of the process. */
export interface Check {
  readonly ok: boolean;
  /** For people; without secrets or tenants' data. */
  readonly detail?: string;
  /** It will not become ready without an operator, so waiting is useless. */
  readonly isStuck?: boolean;
}
