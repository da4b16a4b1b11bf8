/**
 * A secret setting may name the place of its text instead: `file:<path>`, `env:<variable>` or `exec:<command line>`.
 * The environment of a process is visible to more programs than a private file or a key service.
 */

const REFERENCE = /^(file|env|exec):(.+)$/su;

export interface SecretReference {
  readonly kind: 'file' | 'env' | 'exec';
  /** A path, the name of a variable, or a command line. */
  readonly place: string;
}

/** @returns the text of the secret. @throws Error that says why there is none, without any text of the secret */
export type SecretSource = (reference: SecretReference) => string;

/** @returns undefined for a text that is the secret itself */
export function referenceIn(text: string): SecretReference | undefined {
  const [, kind, place] = REFERENCE.exec(text) ?? [];
  return place === undefined ? undefined : { kind: kind as SecretReference['kind'], place };
}
