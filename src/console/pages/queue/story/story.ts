/** The story of one message, from one call. */
import type { Schemas } from '#api';
import type { Asked } from '../../../api/ask.js';

export type Story = Schemas['MessageStory'];
export type AskedStory = Asked<Story>;
export type Attempt = Schemas['Attempt'];
