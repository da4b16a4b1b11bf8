/** The story of one message, from one call. */
import type { Schemas } from '#api';

export type Story = Schemas['MessageStory'];
export type Attempt = Schemas['Attempt'];
