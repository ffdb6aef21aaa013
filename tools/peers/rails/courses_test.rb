# What the two parts do, as examples/courses is tested: ruby courses_test.rb
require "minitest/autorun"
require "tmpdir"
ENV["RAILS_ENV"] = "test"
ENV["COURSES_DATABASE"] = File.join(Dir.mktmpdir, "courses.db")
require_relative "courses"
require "rack/test"

class CoursesTest < Minitest::Test
  include Rack::Test::Methods

  def app = Courses

  def setup
    db = ActiveRecord::Base.connection.raw_connection
    db.execute_batch("drop table if exists booking; drop table if exists course; drop table if exists account")
    db.execute_batch(File.read(File.join(__dir__, "../axum-courses/schema.sql")).gsub("waiting integer", "waiting boolean").gsub(") strict", ")"))
    db.execute_batch(<<~SQL)
      insert into account (name, role) values ('Tara', 'trainer'), ('Tom', 'trainer'), ('Mia', 'member'), ('Max', 'member');
      insert into course (title, level, trainer_id, starts, places, price) values
        ('Wax', 'beginner', 1, '2990-01-01T10:00:00Z', 1, '28.00'), ('Gone', 'all', 2, '1990-01-01T10:00:00Z', 9, '1.00');
      insert into course (title, level, trainer_id, starts, places, price)
        select 'Later ' || value, 'advanced', 2, '2991-01-01T10:00:00Z', 5, '9.50' from json_each('[1,2,3,4,5,6,7,8,9,10,11,12]');
    SQL
    [Account, Course, Booking].each(&:reset_column_information)
  end

  def ask(method, path, account, site = "same-origin")
    custom_request method, path, {}, "HTTP_X_ACCOUNT" => account.to_s, "HTTP_SEC_FETCH_SITE" => site
    last_response
  end

  def test_the_list_has_filters_and_pages
    page = ask("GET", "/courses", 3).body
    assert_equal 12, page.scan('class="card"').size
    href = page[/rel="next" href="([^"]*)"/, 1].gsub("&amp;", "&")
    assert_equal 1, ask("GET", href, 3).body.scan('class="card"').size
    page = ask("GET", "/courses?level=beginner&trainer=1", 3).body
    assert_includes page, "Wax"
    assert_includes page, '<option selected="selected" value="beginner">'
    assert_equal 400, ask("GET", "/courses?level=best", 3).status
  end

  def test_who_waits_moves_up
    ask("POST", "/courses/1/booking", 3)
    assert_includes ask("GET", "/courses/1", 3).body, "You are in."
    ask("POST", "/courses/1/booking", 4)
    assert_includes ask("GET", "/courses/1", 4).body, "You are on the waiting list."
    ask("POST", "/courses/1/booking/cancel", 3)
    assert_includes ask("GET", "/courses/1", 4).body, "You have a place."
    assert_equal 409, ask("POST", "/courses/2/booking", 3).status
    assert_equal 404, ask("POST", "/courses/99/booking", 3).status
    assert_equal 403, ask("POST", "/courses/1/booking", 3, "cross-site").status
  end
end
