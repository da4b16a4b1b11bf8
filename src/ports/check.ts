/** What a part of the process says when it is asked whether it is ready. */
export interface Check {
  readonly ok: boolean;
  /** A person reads it; it has no secrets, no tenant's data. */
  readonly detail?: string;
  /** It will not become ready by itself: nobody should wait for that. */
  readonly isStuck?: boolean;
}
