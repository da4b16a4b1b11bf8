/** A channel: its type and address. */
import type { Rule } from './rule-words.js';

const TYPES = { webhook: 'Webhook', slack: 'Slack', email: 'E-mail' } as const;
export const CHANNEL_TYPES = Object.entries(TYPES) as readonly [ChannelType, string][];
export type ChannelType = keyof typeof TYPES;

export function Channel({ channel: { type, address } }: { readonly channel: Rule['channels'][number] }) {
  return (
    <span class="channel" title={address}>
      <span class="small muted">{TYPES[type]}</span>
      <span class="cut" dir="auto">
        {address.replace(/^https?:\/\//, '')}
      </span>
    </span>
  );
}
