/** A key that is held down presses a button once: the browser would press it again and again. */

/** @returns a function that ends it */
export function pressOnce(): () => void {
  const ignoreRepeat = (event: KeyboardEvent) => {
    const isPress = event.key === "Enter" || event.key === " ";
    if (event.repeat && isPress && event.target instanceof HTMLButtonElement) {
      event.preventDefault();
    }
  };
  document.addEventListener("keydown", ignoreRepeat);
  return () => document.removeEventListener("keydown", ignoreRepeat);
}
