/** The result of a check of `millrace doctor`. */
export interface Diagnosis {
  /** The subject in a word or two. */
  readonly check: string;
  readonly state: 'ok' | 'warn' | 'fail';
  readonly found: string;
  /** The recommended action. */
  readonly advice?: string | undefined;
}

export function ok(check: string, found: string): Diagnosis {
  return { check, state: 'ok', found };
}

export function warn(check: string, found: string, advice: string): Diagnosis {
  return { check, state: 'warn', found, advice };
}

export function fail(check: string, found: string, advice: string): Diagnosis {
  return { check, state: 'fail', found, advice };
}
