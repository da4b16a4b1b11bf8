/** Buttons that do not send a form. Each takes the attributes and the children of its element. */
import type { ButtonHTMLAttributes } from 'preact';

type ButtonProps = Omit<ButtonHTMLAttributes, 'class' | 'type'>;

function buttonOf(looks: string) {
  return (props: ButtonProps) => <button type="button" class={looks} {...props} />;
}

export const Button = buttonOf('button');
export const SmallButton = buttonOf('button small');
export const QuietButton = buttonOf('button quiet');
export const PrimaryButton = buttonOf('button primary');
export const DangerButton = buttonOf('button danger');
export const SmallDangerButton = buttonOf('button small danger');
