/** All that is known of one message, as one call tells it. */
import type { Schemas } from '#api';

export type Story = Schemas['MessageStory'];
export type Attempt = Schemas['Attempt'];

/** What came back, of an attempt or in the DLQ. Status 0: nothing did. */
export type Answer = Pick<
  Attempt,
  'responseStatus' | 'responseHeader' | 'responseBody' | 'responseBodyBase64' | 'error'
>;
