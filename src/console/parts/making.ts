/** Sends the form for a new object once, says that it is ready, and opens its page. */
import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import { failed, said } from './toast.js';

export interface MadeObject {
  readonly name: string;
  /** The address of its page. */
  readonly href: string;
}

export interface Making {
  readonly isSending: ReadonlySignal<boolean>;
  send(event: Event): Promise<void>;
}

/** @param make sends the request; a failure is shown, and the form stays open */
export function useMaking(make: () => Promise<MadeObject>, onClose: () => void): Making {
  const isSending = useSignal(false);
  const { route } = useLocation();
  const send = async (event: Event) => {
    event.preventDefault();
    isSending.value = true;
    try {
      const { name, href } = await make();
      said(`${name} is ready.`);
      onClose();
      route(href);
    } catch (error) {
      failed(error);
    } finally {
      isSending.value = false;
    }
  };
  return { isSending, send };
}
