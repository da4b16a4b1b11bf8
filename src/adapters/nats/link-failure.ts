/** The reason why a request has no answer, and whether it may have been received; link.ts describes each kind. */
export type LinkFailureKind =
  | 'not-sent'
  | 'no-responders'
  | 'refused'
  | 'forbidden'
  | 'timed-out'
  | 'disconnected'
  | 'failed';

export class LinkFailure extends Error {
  override readonly name = 'LinkFailure';

  constructor(
    readonly kind: LinkFailureKind,
    message: string,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
  }
}

/** The user of this connection lacks the right, which the configuration of the servers gives. */
export function isForbidden(failure: unknown): failure is LinkFailure {
  return failure instanceof LinkFailure && failure.kind === 'forbidden';
}
