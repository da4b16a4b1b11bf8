/** The story of one message, from one call. */
import type { Schemas } from '#api';

export type Story = Schemas['MessageStory'];
export type Attempt = Schemas['Attempt'];

/** The answer to an attempt or in the DLQ. Status 0: no answer. */
export type Answer = Pick<
  Attempt,
  'responseStatus' | 'responseHeader' | 'responseBody' | 'responseBodyBase64' | 'error'
>;
