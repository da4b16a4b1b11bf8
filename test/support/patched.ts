/** Puts a decorator around a method of a class, or around a function of a table's row, for as long as a test wants it. */
type Method = (...words: never[]) => unknown;
type MethodOf<Target, Name extends keyof Target> = Extract<Target[Name], Method>;

/** Takes it off again. */
export type TakeOff = () => void;

export function patched<Target extends object, Name extends keyof Target>(
  target: Target,
  name: Name,
  decorator: (
    this: Target,
    original: (...words: Parameters<MethodOf<Target, Name>>) => ReturnType<MethodOf<Target, Name>>,
    ...words: Parameters<MethodOf<Target, Name>>
  ) => ReturnType<MethodOf<Target, Name>>,
): TakeOff {
  const original = target[name] as MethodOf<Target, Name>;
  const decorated = function (this: Target, ...words: Parameters<typeof original>) {
    return decorator.call(this, (...passedOn) => original.apply(this, passedOn) as never, ...words);
  };
  target[name] = decorated as typeof original;
  return () => {
    target[name] = original;
  };
}

/** What a class keeps to itself, for decorators that need it. */
export function insideOf<Inside>(object: object): Inside {
  return object as Inside;
}
