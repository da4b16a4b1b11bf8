/** Why a request has no answer, and whether anybody can have received it; link.ts says what each kind promises. */
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

/** The user that we are signed in as may not do that; rights are given by the configuration of the servers. */
export function isForbidden(failure: unknown): failure is LinkFailure {
  return failure instanceof LinkFailure && failure.kind === 'forbidden';
}
