/** The story of a message next to the list. */
import { mayChangeQueues } from '../../../api/session.js';
import { StateBadge } from '../../../parts/badge.js';
import { Drawer } from '../../../parts/drawer.js';
import { Icon } from '../../../parts/icon.js';
import { KeyHints, type PageKey, useKeys } from '../../../parts/keys.js';
import { useLinks } from '../links.js';
import { againText, MessageActions, useSendAgain } from '../story/message-actions.js';
import { placeOf, StoryParts, useStory } from '../story/story-parts.js';

export interface MessageDrawerProps {
  readonly account: string;
  readonly id: string;
  /** Keys of the list that also work while the drawer is open. */
  readonly keys: readonly PageKey[];
  hrefOf(id: string): string;
  onClose(): void;
}

export function MessageDrawer({ account, id, keys, hrefOf, onClose }: MessageDrawerProps) {
  const links = useLinks();
  const asked = useStory(account, id);
  const again = useSendAgain(account, hrefOf);
  const { data } = asked;
  const own: PageKey[] = [{ key: 'Escape', label: 'close', run: onClose }];
  if (data !== undefined && !data.isUnderWay && mayChangeQueues.value) {
    const text = againText(data.dlq).toLowerCase();
    own.unshift({ key: 'r', label: text, run: () => again(data) }, { key: 'R', label: text, run: () => again(data) });
  }
  useKeys(own);
  return (
    <Drawer
      label={`Message ${id}`}
      title={
        <div class="row">
          {data !== undefined && <StateBadge state={data.state} />}
          <h2 class="wrap-anywhere">{data === undefined ? id : placeOf(data)}</h2>
        </div>
      }
      actions={
        <>
          {data !== undefined && <MessageActions {...{ account, hrefOf }} story={data} onDone={asked.reload} />}
          <a class="button" href={links.message(id)}>
            <Icon name="expand" />
            Own page
          </a>
        </>
      }
      foot={<KeyHints keys={[...keys, ...own.filter(({ key }) => key !== 'r')]} />}
      onClose={onClose}
    >
      <StoryParts asked={asked} />
    </Drawer>
  );
}
